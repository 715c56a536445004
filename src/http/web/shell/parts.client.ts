/* Puts the dialogs of scripts into the page, before the scripts that use them. */

document.body.insertAdjacentHTML("beforeend", document.querySelector("#parts")?.textContent ?? "")

/** Returns the dialog with an id. */
export const dialogOf = (id: string): HTMLDialogElement | null => document.querySelector<HTMLDialogElement>(`#${id}`)
