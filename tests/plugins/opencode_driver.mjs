// Drives the OpenCode plugin as its host does: `steps` in order, each [hook or event, argument].
// Prints what the hooks changed, and ends at once, as the host does after `dispose`.
import { pathToFileURL } from "node:url";

const { plugin, options, directory, parents, steps } = JSON.parse(process.argv[2]);
const module = await import(pathToFileURL(plugin));
const printed = { exports: Object.keys(module), logged: [], config: null, system: [], parts: [] };
const client = {
  session: { get: async ({ path }) => ({ data: { id: path.id, parentID: parents?.[path.id] } }) },
  app: { log: async ({ body }) => printed.logged.push(body.message) },
};
const hooks = await module.Notewell({ client, directory }, options);

for (const [name, argument] of steps) {
  if (name === "config") {
    printed.config = argument;
    await hooks.config?.(argument);
  } else if (name === "request") {
    const [sessionID, providerID] = [argument].flat();
    const model = providerID && { id: "m", providerID };
    const output = { system: ["You are an agent."] };
    await hooks["experimental.chat.system.transform"]?.({ sessionID, model }, output);
    printed.system.push(output.system.slice(1));
  } else if (name === "prompt") {
    const [text, providerID] = [argument].flat();
    const message = { id: "msg_1", model: providerID && { modelID: "m", providerID } };
    const parts = [{ id: "prt_1", sessionID: "ses_1", type: "text", text }];
    await hooks["chat.message"]?.({ sessionID: "ses_1" }, { message, parts });
    printed.parts.push(parts.slice(1));
  } else if (name === "dispose") await hooks.dispose?.();
  else hooks.event?.({ event: { type: name, properties: argument } }); // The host does not wait.
}
console.log(JSON.stringify(printed));
