// Notewell in OpenClaw's memory slot: three tools, a section of the system prompt and the flush
// before a compaction. One `notewell mcp serve --openclaw` per agent answers.
//
// OpenClaw says who calls (`ctx.agentId`, `ctx.sessionKey`). The agent chooses the server, so that
// no agent sees another's notes; the session key goes along with each call, so that a group does
// not see what is private. Neither is an argument of a tool.
import { readFileSync } from "node:fs";
import { flushPlan, memorySection } from "./prompt.js";
import { MemoryServer, MemoryUnavailable } from "./server.js";
import { TOOLS } from "./tools.js";

const manifest = JSON.parse(readFileSync(new URL("./openclaw.plugin.json", import.meta.url), "utf8"));
const TIMEOUT_S = 60; // The first search of a large memory indexes its words.
const MAX_AGENTS = 64; // Servers at once; a configuration has a handful of agents.

/** By command line. OpenClaw may register a plugin several times in one process. */
const servers = new Map();
let isWarned = false;

export default {
  id: manifest.id,
  name: manifest.name,
  description: manifest.description,
  kind: manifest.kind,
  configSchema: manifest.configSchema,
  register(api) {
    const settings = api.pluginConfig ?? {};
    warnOfOtherMemory(api);
    for (const tool of TOOLS)
      api.registerTool((ctx) => offered(tool, ctx, api, settings), { names: [tool.name] });
    api.registerMemoryCapability({
      promptBuilder: memorySection,
      flushPlanResolver: flushPlan,
      deterministicRecallToolName: "memory_search",
    });
    api.on("gateway_stop", closeServers);
  },
};

function offered(tool, ctx, api, settings) {
  return {
    ...tool,
    // In the list of tools itself, not behind OpenClaw's search for tools: the model must see that
    // it has a memory, and an answer through that search would come as JSON in JSON.
    catalogMode: "direct-only",
    async execute(_id, args, signal) {
      try {
        const { text, failed } = await answer(tool.name, args, ctx, api, settings, signal);
        return resultOf(text, failed ? { unavailable: true } : {});
      } catch (error) {
        if (!(error instanceof MemoryUnavailable)) throw error;
        api.logger.error(`notewell: ${error.message}`);
        return resultOf(`Memory is not available. ${error.message}`, { unavailable: true });
      }
    },
  };
}

function answer(name, args, ctx, api, settings, signal) {
  const server = serverOf(agentOf(ctx), api, settings);
  const timeoutMs = 1000 * (settings.timeoutSeconds ?? TIMEOUT_S);
  return server.call(name, args, { sessionKey: ctx.sessionKey, timeoutMs, signal });
}

/** `details` is for OpenClaw; with tool search it reaches the model too, so it has no notes. */
function resultOf(text, details) {
  return { content: [{ type: "text", text }], details };
}

function agentOf({ agentId, sessionKey }) {
  const [, named] = /^agent:([^:]+):/.exec(sessionKey ?? "") ?? [];
  const agent = agentId ?? named;
  if (!agent) throw new MemoryUnavailable("OpenClaw did not say which agent asks.");
  return agent;
}

function serverOf(agent, api, settings) {
  const command = settings.command ?? "notewell";
  const args = ["mcp", "serve", "--openclaw", "--agent", agent, "--session-key-per-call"];
  const workspace = workspaceOf(agent, api);
  if (workspace) args.push("--workspace", workspace);
  if (settings.stateDir) args.push("--state-dir", settings.stateDir);
  const key = JSON.stringify([command, ...args]);
  if (!servers.has(key)) {
    if (servers.size >= MAX_AGENTS) closeServers();
    const { version } = manifest;
    servers.set(key, new MemoryServer({ command, args, version, log: api.logger }));
  }
  return servers.get(key);
}

/** The agent's own folder, from OpenClaw itself; not the folder in which a task happens to run. */
function workspaceOf(agent, api) {
  const config = api.runtime?.config?.current?.() ?? api.config;
  return api.runtime?.agent?.resolveAgentWorkspaceDir?.(config, agent);
}

/** OpenClaw loads its own memory beside ours for its "dreaming", and then its tools win. */
function warnOfOtherMemory(api) {
  const { slots, entries = {} } = api.config?.plugins ?? {};
  const isOff = entries["memory-core"]?.enabled === false;
  const dreams = entries[manifest.id]?.config?.dreaming?.enabled !== false;
  if (isWarned || slots?.memory !== manifest.id || !dreams || isOff) return;
  isWarned = true;
  api.logger.warn(
    "notewell: OpenClaw's own memory_search and memory_get are used, not Notewell's, while the " +
      "plugin memory-core is loaded. Run `openclaw plugins disable memory-core`.",
  );
}

function closeServers() {
  for (const server of servers.values()) server.close();
  servers.clear();
}
