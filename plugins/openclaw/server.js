// One `notewell mcp serve` over standard input and output, for all conversations of one agent.
//
//   call(tool, arguments, session key)
//     -> starts the program if it does not run, at most RESTARTS times in RESTART_WINDOW_MS
//     -> sends the session key beside the arguments, where a model cannot write it
//     -> resolves to { text, failed }; rejects with a MemoryUnavailable whose text says what to do
//
// The process and its pipes do not keep OpenClaw running, and the program ends when OpenClaw ends:
// its standard input is closed then.
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

const PROTOCOL = "2025-06-18";
const START_TIMEOUT_MS = 30_000;
const RESTARTS = 3;
const RESTART_WINDOW_MS = 60_000;
const TIMEOUTS_IN_A_ROW = 2; // After these, the program counts as stuck and is ended.
const MAX_LINE_CHARS = 8 * 1024 * 1024; // An answer has some kilobytes.
const STDERR_CHARS = 2000;

/** The memory cannot answer now; the message is for the user and for the model. */
export class MemoryUnavailable extends Error {}

/** The program ended while a call was waiting. */
class ProgramEnded extends MemoryUnavailable {}

export class MemoryServer {
  constructor({ command, args, version, log, startTimeoutMs = START_TIMEOUT_MS }) {
    this.command = command;
    this.args = args;
    this.version = version;
    this.log = log;
    this.startTimeoutMs = startTimeoutMs;
    this.starts = []; // When the program was started, in the last RESTART_WINDOW_MS.
    this.run = null;
    this.timeouts = 0;
  }

  async call(tool, args, { sessionKey, timeoutMs, signal }) {
    const params = {
      name: tool,
      arguments: args ?? {},
      _meta: { "notewell/sessionKey": sessionKey ?? "" },
    };
    const deadline = Date.now() + timeoutMs;
    try {
      return await this.ask(params, deadline, signal);
    } catch (error) {
      if (!(error instanceof ProgramEnded)) throw error;
      // Once more with a new process. An entry that was written already is not written twice.
      return await this.ask(params, deadline, signal);
    }
  }

  async ask(params, deadline, signal) {
    signal?.throwIfAborted();
    const run = this.running();
    await run.ready;
    signal?.throwIfAborted();
    const timeoutMs = Math.max(1, deadline - Date.now());
    try {
      const result = await run.request("tools/call", params, timeoutMs, signal);
      this.timeouts = 0;
      return answerOf(result);
    } catch (error) {
      if (error instanceof TimedOut && ++this.timeouts >= TIMEOUTS_IN_A_ROW) this.close();
      throw error;
    }
  }

  /** The running program; a new one if there is none. */
  running() {
    if (this.run && !this.run.ended) return this.run;
    const now = Date.now();
    this.starts = this.starts.filter((at) => now - at < RESTART_WINDOW_MS);
    if (this.starts.length > RESTARTS) {
      const why = this.run?.ended ?? "it ended";
      throw new MemoryUnavailable(
        `Notewell ended ${this.starts.length} times within a minute and is not started again ` +
          `for now: ${why}. Run \`notewell doctor\` on this machine.`,
      );
    }
    this.starts.push(now);
    this.timeouts = 0;
    this.run = new Run(this);
    this.run.ready.then(
      (info) => this.compareVersions(info),
      () => {}, // Who waits for it is told.
    );
    return this.run;
  }

  compareVersions(info) {
    const version = info?.serverInfo?.version;
    if (version && version !== this.version)
      this.log.warn(
        `notewell: the plugin is ${this.version} and the program is ${version}; install the ` +
          "plugin of the same version",
      );
  }

  close() {
    this.run?.end("it was stopped");
    this.run = null;
  }
}

class TimedOut extends MemoryUnavailable {}

/** One process, from its start to its end. */
class Run {
  constructor({ command, args, version, log, startTimeoutMs }) {
    this.command = command;
    this.log = log;
    this.waiting = new Map();
    this.lastId = 0;
    this.buffered = "";
    this.stderr = "";
    this.ended = null; // Why, once it has ended.
    const options = { stdio: ["pipe", "pipe", "pipe"], windowsHide: true, env: environment() };
    this.child = spawn(command, args, options);
    this.listen();
    this.ready = this.shakeHands(version, startTimeoutMs);
    this.ready.catch(() => {}); // Each caller awaits it and gets the error.
  }

  listen() {
    const { child } = this;
    child.on("error", (error) => this.end(reasonOf(error, this.command)));
    child.on("close", (code, signal) => {
      const why = signal ? `it was ended by ${signal}` : `it ended with code ${code}`;
      this.end(this.logErrors() ? `${why}; the log of OpenClaw has its last words` : why);
    });
    // A write to a process that has ended is reported by `close`.
    child.stdin.on("error", () => {});
    child.stdout.setEncoding("utf8").on("data", (text) => this.read(text));
    child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr = (this.stderr + text).slice(-STDERR_CHARS);
    });
    for (const handle of [child, child.stdin, child.stdout, child.stderr]) handle.unref?.();
  }

  async shakeHands(version, timeoutMs) {
    const client = { name: "openclaw-notewell", version };
    const params = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: client };
    try {
      const info = await this.request("initialize", params, timeoutMs);
      this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      return info;
    } catch (error) {
      this.end("it did not start");
      throw error;
    }
  }

  request(method, params, timeoutMs, signal) {
    if (this.ended) return Promise.reject(new ProgramEnded(`Notewell has ended: ${this.ended}`));
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const done = (settle, value) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.waiting.delete(id);
        settle(value);
      };
      const giveUp = (error) => {
        const params = { requestId: id, reason: error.message };
        this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
        done(reject, error);
      };
      const onAbort = () => giveUp(new Error("the call was cancelled"));
      // This timer also keeps a command of OpenClaw running until the answer is there.
      const timer = setTimeout(() => giveUp(timedOut(method, timeoutMs)), timeoutMs);
      signal?.addEventListener("abort", onAbort, { once: true });
      this.waiting.set(id, {
        resolve: (value) => done(resolve, value),
        reject: (error) => done(reject, error),
      });
      this.send({ jsonrpc: "2.0", id, method, params });
    });
  }

  send(message) {
    if (!this.ended) this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  read(text) {
    this.buffered += text;
    if (this.buffered.length > MAX_LINE_CHARS) {
      this.end("an answer was too long");
      return;
    }
    const lines = this.buffered.split("\n");
    this.buffered = lines.pop();
    for (const line of lines) this.receive(line);
  }

  receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return; // Not of the protocol.
    }
    const call = this.waiting.get(message?.id);
    if (message?.error) call?.reject(new MemoryUnavailable(`Notewell: ${message.error.message}`));
    else call?.resolve(message.result);
  }

  /** The end, whatever the reason: it happens once, and each waiting call gets to know. */
  end(why) {
    if (this.ended) return;
    this.ended = why;
    this.child.kill();
    const ErrorOf = this.child.pid === undefined ? MemoryUnavailable : ProgramEnded;
    for (const call of [...this.waiting.values()])
      call.reject(new ErrorOf(`Notewell does not answer: ${why}`));
  }

  /** For the user alone: it may name a folder, and what a call rejects with goes to the model. */
  logErrors() {
    const text = this.stderr.trim();
    if (text) this.log.warn(`notewell: before it ended, the program wrote:\n${text}`);
    return text;
  }
}

/** A gateway that runs as a service may not have the folder of pipx and uv on its path. */
function environment() {
  const folders = [process.env.PATH, join(homedir(), ".local", "bin")];
  return { ...process.env, PATH: folders.filter(Boolean).join(delimiter) };
}

function reasonOf(error, command) {
  if (error.code === "ENOENT")
    return (
      `the program '${command}' was not found. Install Notewell, or name the program: ` +
      "`openclaw config set plugins.entries.notewell.config.command /path/to/notewell`"
    );
  return `'${command}' could not be started: ${error.message}`;
}

function timedOut(method, timeoutMs) {
  const seconds = Math.ceil(timeoutMs / 1000);
  const what = method === "initialize" ? "start" : "answer";
  return new TimedOut(`Notewell did not ${what} within ${seconds} s. Try again later.`);
}

/** The text for the model, once: OpenClaw would show it the JSON of the same answer again. */
function answerOf(result) {
  const blocks = Array.isArray(result?.content) ? result.content : [];
  const text = blocks.filter((block) => block.type === "text").map((block) => block.text);
  return { text: text.join("\n"), failed: result?.isError === true };
}
