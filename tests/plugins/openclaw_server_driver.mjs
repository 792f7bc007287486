// Drives the client of the OpenClaw plugin: `calls` calls of one tool, each after what `before`
// says ("kill" ends the program as a crash would). Prints the answers or the errors.
import { once } from "node:events";
import { pathToFileURL } from "node:url";

const asked = JSON.parse(process.argv[2]);
const { MemoryServer } = await import(pathToFileURL(asked.module));
const logged = [];
const server = new MemoryServer({
  ...asked.server,
  version: asked.version ?? "0",
  log: { warn: (text) => logged.push(text) },
});
const answers = [];
for (const before of asked.calls) {
  if (before === "kill") {
    const { child } = server.run;
    child.ref();
    child.kill("SIGKILL");
    if (!asked.early) await once(child, "close");
  }
  try {
    const options = { sessionKey: "agent:main:main", timeoutMs: asked.timeoutMs ?? 60_000 };
    answers.push(await server.call(asked.tool, asked.args, options));
  } catch (error) {
    answers.push({ error: error.message });
  }
}
server.close();
console.log(JSON.stringify({ answers, logged }));
