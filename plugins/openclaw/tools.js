// What the model may call. The answers come from `notewell mcp serve`, which checks the arguments;
// a test compares the names below with the tools of that server.

const integer = { type: "integer", minimum: 1 };

function toolSpec(name, label, description, properties) {
  const [first] = Object.keys(properties);
  const parameters = {
    type: "object",
    properties,
    required: [first],
    additionalProperties: false,
  };
  return { name, label, description, parameters };
}

export const TOOLS = [
  toolSpec(
    "memory_search",
    "Memory Search",
    "Find what notes of earlier conversations say. Call it before you answer about earlier work, " +
      "decisions, dates, people, preferences or open tasks. Returns lines of notes with their paths.",
    {
      query: { type: "string", description: "A question or words." },
      maxResults: integer,
      minScore: { type: "number", minimum: 0, maximum: 1 },
      folder: { type: "string" },
    },
  ),
  toolSpec(
    "memory_get",
    "Memory Get",
    "Read lines of one note. Use a path that memory_search gave, MEMORY.md, USER.md, or " +
      "memory/YYYY-MM-DD.md.",
    {
      path: { type: "string", description: "A path, or a citation such as MEMORY.md#L5-L9." },
      from: integer,
      lines: integer,
    },
  ),
  toolSpec(
    "memory_append",
    "Memory Append",
    "Write down what should outlast this conversation: one self-contained entry in today's note " +
      "or, with a section, under that heading of MEMORY.md.",
    {
      text: { type: "string" },
      section: { type: "string", description: "A heading of MEMORY.md; made if it is missing." },
    },
  ),
];
