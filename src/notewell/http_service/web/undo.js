// Undo of one write: asks first, then removes exactly what was added.

import { post } from "./api.js";
import { fill } from "./dom.js";
import { failed } from "./states.js";
import { sure } from "./sure.js";

export async function takeBack(page, path, id, status, again) {
  const question =
    "This removes exactly the text that was added. The rest of the note does not change.";
  if (!(await sure(`Undo ${id} in ${path}?`, question, "Undo"))) return;
  try {
    await post(`/v1/page/undo/${encodeURIComponent(id)}`, {});
    page.say(`${id} is undone`);
    again();
  } catch (error) {
    fill(status, failed(error));
  }
}
