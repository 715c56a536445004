/* Saves unsaved text as drafts before a sign-out, so that nothing private stays in the browser. */

import { actionOf } from "../shell/parts.client.ts"
import { composerAt, pageOf, saveTyped } from "./drafts.client.ts"
import { isSame, typedOf } from "./typed.client.ts"
import { entriesOf, type Entry, remove, storagePrefix } from "./unsaved.client.ts"

/** Saves an entry as a draft. A draft that was changed elsewhere stays as it is beside a new one. */
const saveEntry = async ({ page, unsaved, username }: Entry): Promise<void> => {
  const { confirmed, draft, key, typed } = unsaved
  const form = await composerAt(draft === null ? page : pageOf(draft)) ?? await composerAt("/publish")
  if (form === undefined || form.dataset["compose"] !== username) throw new Error("another member's page")
  const isEdit = form.querySelector("input[name=edit]") !== null
  // The files of a published post stay there.
  if (isEdit) { for (const one of form.querySelectorAll("input[name=edit], input[name='files[]']")) one.remove() }
  if (draft === null) return void await saveTyped(form, typed, key)
  const known = form.querySelector<HTMLInputElement>("input[name=draft]")
  if (known === null) return
  const theirs = typedOf(form)
  const isOurs = confirmed === null || isSame(theirs, confirmed)
  if (isSame(theirs, typed)) return
  if (!isOurs) known.remove()
  await saveTyped(form, typed, isOurs ? key : String(new FormData(form).get("key")))
}

/**
 * Saves everything as drafts that the member typed and the server has not confirmed, and removes it from the browser's
 * storage. Text that cannot be saved stays there, and is shown to this member only.
 */
const saveAll = async (): Promise<void> => {
  if (entriesOf(storagePrefix).length === 0) return
  const username = (await composerAt("/publish"))?.dataset["compose"]
  if (username === undefined) return
  for (const one of entriesOf(`${storagePrefix}${username}/`)) {
    const saved = one.unsaved.sent ? undefined : saveEntry(one)
    await Promise.resolve(saved).then(() => remove(one.name)).catch(() => undefined)
  }
}

/** Maximum time that a sign-out waits, in milliseconds. */
const waitMillisMax = 5_000

document.addEventListener("submit", (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || actionOf(form) !== "/auth/sign_out") return
  event.preventDefault()
  const signOut = () => form.submit()
  const waited = new Promise<void>((resolve) => setTimeout(resolve, waitMillisMax))
  void Promise.race([saveAll().catch(() => undefined), waited]).then(signOut)
})
