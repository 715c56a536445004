/* Puts the dialogs of scripts into the page, before the scripts that use them. */

document.body.insertAdjacentHTML("beforeend", document.querySelector("#parts")?.textContent ?? "")

/** Returns the path of a form; `form.action` is a field if one has that name. */
export const actionOf = (form: HTMLFormElement): string =>
  new URL(form.getAttribute("action") ?? "", location.href).pathname

/** Returns the dialog with an id. */
export const dialogOf = (id: string): HTMLDialogElement | null => document.querySelector<HTMLDialogElement>(`#${id}`)
