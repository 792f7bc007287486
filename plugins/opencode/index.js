// Notewell in OpenCode: tools by MCP, notes at the start of a session, what notes say about each
// prompt, and the conversation saved as a note.
//
//   config                          adds the MCP server, unless the user has it already
//   experimental.chat.system…       hook session-start: notes in the system prompt, once per session;
//                                   none for titles and summaries by another model
//   chat.message                    hook prompt: notes about the prompt, as a part of the message
//   session.idle                    hook stop: the next session saves this one if its end is lost;
//                                   with the option `keep`, it keeps what was said
//   experimental.session.compacting hook pre-compact
//   dispose                         hook session-end, once, for the sessions that went on here
//
// OpenCode calls every exported function as a plugin, so there is one.
import { homedir } from "node:os";
import { join } from "node:path";
import { Program } from "./program.js";

const SERVER = "notewell";
const START_TIMEOUT_MS = 30_000; // Instead of 5 s, in which a busy machine may not start it.
const MAX_SESSIONS = 500; // Remembered at once, in a server that runs for weeks.
const MISSING =
  "The Notewell plugin does nothing yet: the program 'notewell' is not installed. Install it " +
  "(pipx install '.[mcp]' in a checkout of Notewell), or name it as `command` in the options of " +
  "the plugin, then restart OpenCode.";

export const Notewell = async ({ client, directory }, options) => {
  const settings = options ?? {};
  const program = new Program(settings);
  if (!program.path) return pluginWithoutProgram(client);
  const sessions = new Sessions(client);
  let titleModel; // `provider/model`, if the user has named one.

  const callOf = (id, facts) => ({
    session_id: id,
    transcript_path: join(dataFolder(), "opencode.db", `${id}.jsonl`),
    cwd: directory,
    ...facts,
  });

  return {
    config: async (config) => {
      config.mcp ??= {};
      const entry = { type: "local", command: program.server, enabled: true };
      config.mcp[SERVER] ??= { ...entry, timeout: START_TIMEOUT_MS };
      titleModel = config.agent?.title?.model ?? config.small_model;
    },
    "experimental.chat.system.transform": async ({ sessionID: id, model }, output) => {
      if (!id || (await sessions.isOfAgent(id))) return;
      const session = sessions.get(id);
      // A request for a title or a summary, perhaps to another provider: notes do not go there.
      if (isOther(model, session.model)) return;
      // Asked once: a system prompt that changes would make the provider read everything again.
      session.beginning ??= program.ask("session-start", callOf(id, { source: "startup" }));
      const text = await session.beginning;
      for (const one of [text, session.first]) if (one) output.system.push(one);
    },
    "chat.message": async ({ sessionID: id }, { message, parts }) => {
      const session = sessions.get(id);
      const isFirst = !session.model;
      session.model = message.model;
      if (settings.recall === false || (await sessions.isOfAgent(id))) return;
      const prompt = parts.filter(isTyped).map((part) => part.text).join("\n");
      const text = prompt && (await program.ask("prompt", callOf(id, { prompt }), "--recall"));
      if (!text) return;
      // The first message is sent for a title, too, with all its parts.
      const own = message.model && `${message.model.providerID}/`;
      if (isFirst && own && titleModel && !titleModel.startsWith(own)) {
        session.first = text;
        return;
      }
      // After the user's own parts, which are in the order of their ids.
      const last = parts.at(-1);
      parts.push({ ...identityAfter(last, message), type: "text", text, synthetic: true });
    },
    "experimental.session.compacting": async ({ sessionID: id }) => {
      if (!(await sessions.isOfAgent(id))) program.start("pre-compact", callOf(id, {}));
    },
    event: async ({ event: { type, properties } }) => {
      const id = properties?.sessionID ?? properties?.info?.id;
      if (type === "session.created") sessions.add(properties.info);
      if (type === "session.deleted") sessions.forget(id);
      // Without a wait: the host may end right after this event.
      if (type !== "session.idle" || sessions.get(id).ofAgent) return;
      sessions.get(id).isOpen = true;
      program.start("stop", callOf(id, {}));
    },
    dispose: async () => {
      const calls = sessions.takeOpen().map((id) => callOf(id, {}));
      // One process for all: hundreds at once would stall the machine.
      if (calls.length) program.start("session-end", calls.length > 1 ? calls : calls[0]);
    },
  };
};

class Sessions {
  constructor(client) {
    this.client = client;
    this.known = new Map();
  }

  get(id) {
    if (!this.known.has(id)) {
      if (this.known.size >= MAX_SESSIONS) this.known.delete(this.known.keys().next().value);
      this.known.set(id, {});
    }
    return this.known.get(id);
  }

  add({ id, parentID }) {
    this.get(id).ofAgent = Boolean(parentID);
  }

  forget(id) {
    this.known.delete(id);
  }

  /** Whether the session is one of an agent with another agent: the user does not see it. */
  async isOfAgent(id) {
    const session = this.get(id);
    if (session.ofAgent === undefined) {
      const found = await this.client.session.get({ path: { id } }).catch(() => undefined);
      session.ofAgent = Boolean(found?.data?.parentID);
    }
    return session.ofAgent;
  }

  takeOpen() {
    const open = [...this.known].filter(([, session]) => session.isOpen);
    for (const [, session] of open) session.isOpen = false;
    return open.map(([id]) => id);
  }
}

function pluginWithoutProgram(client) {
  const body = { service: SERVER, level: "error", message: MISSING };
  client.app.log({ body }).catch(() => {});
  return {
    "experimental.chat.system.transform": async (_input, output) => {
      output.system.push(`${MISSING} Tell the user so if memory is asked for.`);
    },
  };
}

/** Whether a request goes to another model than the one that the user talks to. */
function isOther(model, chosen) {
  if (!model || !chosen) return false;
  return model.providerID !== chosen.providerID || model.id !== chosen.modelID;
}

function isTyped(part) {
  return part.type === "text" && !part.synthetic && !part.ignored;
}

/** Ids are compared as texts: a longer one with the same beginning comes next. */
function identityAfter(last, message) {
  return { id: `${last.id}n`, messageID: message.id, sessionID: last.sessionID };
}

function dataFolder() {
  return join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "opencode");
}
