// The program `notewell`: where it is, and how its hooks are called.
//
// A hook reads JSON from standard input and prints JSON. It never stops the host: what does not
// work counts as an empty answer here, and `notewell doctor` tells about it.
import { spawn } from "node:child_process";
import { accessSync, closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";

const HOOK_TIMEOUT_MS = 10_000;
const MAX_ANSWER_CHARS = 64 * 1024;

export class Program {
  /** `settings`: command, workspace, keep. */
  constructor(settings = {}, environ = process.env, timeoutMs = HOOK_TIMEOUT_MS) {
    this.timeoutMs = timeoutMs;
    this.path = findProgram(settings.command ?? "notewell", environ);
    const workspace = settings.workspace || environ.NOTEWELL_WORKSPACE;
    // Never the folder in which the host runs: nobody asked for notes there.
    this.place = workspace ? ["--workspace", expanded(workspace)] : ["--configured"];
    // Without the option, the settings of Notewell decide.
    this.keep = settings.keep === true ? ["--keep"] : [];
  }

  get server() {
    return [this.path, "mcp", "serve", ...this.place];
  }

  /** The text that a hook adds to the conversation; empty if there is none. */
  ask(event, call, ...options) {
    return new Promise((resolve) => {
      const child = spawn(this.path, this.words(event, options), {
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      });
      let printed = "";
      const done = () => {
        clearTimeout(timer);
        resolve(contextIn(printed));
      };
      // Not at `close`: a process that the program has started may keep the pipe open.
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        child.stdout.destroy();
        done();
      }, this.timeoutMs);
      child.stdout.setEncoding("utf8").on("data", (text) => {
        if (printed.length < MAX_ANSWER_CHARS) printed += text;
      });
      child.stdin.on("error", () => {});
      child.on("error", done);
      child.on("close", done);
      child.stdin.end(JSON.stringify(call));
    }).catch(() => ""); // `spawn` throws for a folder with a NUL in its name.
  }

  /** Starts a hook that saves something, for one call or a list. It goes on when the host ends, so its input is a file:
   * what the host has not written to a pipe by then would be lost. */
  start(event, call) {
    let folder, input;
    try {
      folder = mkdtempSync(join(tmpdir(), "notewell-"));
      const file = join(folder, "call.json");
      writeFileSync(file, JSON.stringify(call), { mode: 0o600 });
      input = openSync(file, "r");
      const child = spawn(this.path, this.words(event, []), {
        stdio: [input, "ignore", "ignore"],
        detached: true,
        windowsHide: true,
      });
      child.on("error", () => {});
      child.unref();
    } catch {
      // No room for temporary files, for example. The host goes on.
    } finally {
      if (input !== undefined) closeSync(input);
      if (folder) rmSync(folder, { recursive: true, force: true });
    }
  }

  words(event, options) {
    return ["hook", event, "--host", "opencode", ...this.place, ...this.keep, ...options];
  }
}

/** The full path of the program; undefined if it is not installed. */
function findProgram(command, environ) {
  if (isAbsolute(command)) return isProgram(command) ? command : undefined;
  // A host that was not started from a shell may not have the folder of pipx and uv on its path.
  const folders = [...(environ.PATH ?? "").split(delimiter), join(homedir(), ".local", "bin")];
  const names = process.platform === "win32" ? [`${command}.exe`] : [command];
  return folders
    .filter((folder) => isAbsolute(folder))
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function expanded(folder) {
  return folder === "~" || folder.startsWith("~/") ? join(homedir(), folder.slice(1)) : folder;
}

function contextIn(printed) {
  try {
    const { context } = JSON.parse(printed);
    return typeof context === "string" ? context : "";
  } catch {
    return "";
  }
}
