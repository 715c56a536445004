/* Drafts on the server, for scripts. */

import { type Typed, typedOf } from "./typed.client.ts"

/** Result of a save. */
interface Saved {
  readonly draft: string | null
  /** Characters left in each text. */
  readonly left: ReadonlyArray<number>
}

/** Fields of a form that save a draft; without files, which are uploaded on their own. */
export const draftFields = (form: HTMLFormElement): FormData => {
  const data = new FormData(form)
  data.delete("file")
  data.set("act", "autosave")
  return data
}

/** Sends fields that save a draft. Throws if the server did not confirm it. */
export const postFields = async (form: HTMLFormElement, body: FormData): Promise<Saved> => {
  const response = await fetch(new URL(form.action, location.href), { method: "POST", body })
  if (!response.ok || response.redirected) throw new Error(String(response.status))
  return response.json()
}

/** Stores what was typed as a draft; saves with one key make one draft. Returns its id, or null if it is empty. */
export const saveTyped = async (form: HTMLFormElement, typed: Typed, key: string): Promise<string | null> => {
  const data = draftFields(form)
  for (const [name] of typed) data.delete(name)
  for (const [name, value] of typed) data.append(name, value)
  data.set("key", key)
  return (await postFields(form, data)).draft
}

/** Returns the composer of a page; undefined if the page is not there. Throws without a connection. */
export const composerAt = async (path: string): Promise<HTMLFormElement | undefined> => {
  const response = await fetch(path)
  if (response.status === 404) return undefined
  if (!response.ok || response.redirected) throw new Error(String(response.status))
  const page = new DOMParser().parseFromString(await response.text(), "text/html")
  return page.querySelector<HTMLFormElement>("form[data-compose]:not(.short)") ??
    page.querySelector<HTMLFormElement>("form[data-compose]") ?? undefined
}

export const pageOf = (draft: string) => `/publish?draft=${encodeURIComponent(draft)}`

/** Reads a draft from the server; undefined if it was published or deleted. Throws without a connection. */
export const draftOf = async (id: string): Promise<Typed | undefined> => {
  const form = await composerAt(pageOf(id))
  return form === undefined ? undefined : typedOf(form)
}
