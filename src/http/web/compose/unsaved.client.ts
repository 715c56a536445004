/* The text of a composer that the server has not confirmed yet, in the browser's storage. */

import { isTyped, type Typed } from "./typed.client.ts"

/** Prefix of names in the browser's storage. */
export const storagePrefix = "compose:"

/** Typed fields, and the facts that tell whether the server has them. */
export interface Unsaved {
  readonly typed: Typed
  /** Fields of the last save that the server confirmed. */
  readonly confirmed: Typed | null
  /** Draft of that save. */
  readonly draft: string | null
  /** Key of the form: saves with the same key make one draft. */
  readonly key: string
  /** True once the form was submitted. */
  readonly sent: boolean
}

const isUnsaved = (value: unknown): value is Unsaved =>
  typeof value === "object" && value !== null && "typed" in value && isTyped(value.typed) &&
  "confirmed" in value && (value.confirmed === null || isTyped(value.confirmed)) &&
  "draft" in value && (value.draft === null || typeof value.draft === "string") &&
  "key" in value && typeof value.key === "string" && "sent" in value && typeof value.sent === "boolean"

/** An entry of the storage: its name, the member and the page that it belongs to, and its value. */
export interface Entry {
  readonly name: string
  readonly username: string
  readonly page: string
  readonly unsaved: Unsaved
}

const entryName = /^compose:([^/]*)(\/[^#]*)#/

/** Returns the entries whose names have a prefix; none if the browser allows no storage. */
export const entriesOf = (prefix: string): ReadonlyArray<Entry> => {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(prefix)).flatMap((name) => {
      const [, username, page] = entryName.exec(name) ?? []
      if (username === undefined || page === undefined) return []
      const unsaved: unknown = JSON.parse(localStorage.getItem(name) ?? "null")
      return isUnsaved(unsaved) ? [{ name, username, page, unsaved }] : []
    })
  } catch {
    return []
  }
}

export const remove = (name: string): void => {
  try {
    localStorage.removeItem(name)
  } catch {
    // Nothing was written either.
  }
}

/** Names of the entries that open tabs are writing; none in browsers without locks. */
const inUse = async (): Promise<ReadonlySet<string>> => {
  const { held = [] } = await navigator.locks?.query().catch(() => undefined) ?? {}
  return new Set(held.flatMap(({ name }) => name ?? []))
}

/** Storage of one form of one page. Each tab has its own entry, and takes over one that a closed tab left. */
export const storageOf = (form: HTMLFormElement) => {
  const prefix = `${storagePrefix}${form.dataset["compose"]}${location.pathname}${location.search}#`
  let name = `${prefix}${new FormData(form).get("key")}`
  let release: (() => void) | undefined
  /** Marks the entry as one of an open tab. */
  const lock = () => {
    if (release !== undefined || navigator.locks === undefined) return
    const held = new Promise<void>((resolve) => release = resolve)
    navigator.locks.request(name, () => held).catch(() => undefined)
  }
  const unlock = () => {
    release?.()
    release = undefined
  }
  return {
    /** Returns what a closed tab left here. `wentBack` is true if the browser went back to the page. */
    takeOver: async (isBackNavigation: boolean): Promise<Unsaved | undefined> => {
      const used = await inUse()
      const left = entriesOf(prefix).filter((one) => !used.has(one.name))
      // The form was sent, and the reader went on.
      if (!isBackNavigation) {
        const elsewhere = entriesOf(`${storagePrefix}${form.dataset["compose"]}/web/form_pages/`)
        for (const one of [...left, ...elsewhere]) if (one.unsaved.sent && !used.has(one.name)) remove(one.name)
      }
      const found = left.find(({ unsaved }) => isBackNavigation || !unsaved.sent)
      if (found !== undefined) name = found.name
      return found?.unsaved
    },
    /** Does nothing if the storage is full or not allowed. */
    write: (unsaved: Unsaved): void => {
      // A page with a lock is not kept for the way back.
      if (unsaved.sent) unlock()
      else lock()
      try {
        localStorage.setItem(name, JSON.stringify(unsaved))
      } catch {
        // The draft on the server remains.
      }
    },
    forget: (): void => {
      unlock()
      remove(name)
    }
  }
}
