import { visibilityOf } from "../../federation/documents/Addressing.ts"
import { type ForeignNote, foreignNote } from "../../federation/documents/ForeignNote.ts"
import {
  asForeign,
  asText,
  type Foreign,
  idOf,
  idsOf,
  type ReadUrl,
  typeOf
} from "../../federation/documents/ForeignValues.ts"
import { statusBytesMax } from "../../instance/ContentLimits.ts"
import { momentOf } from "../../runtime/Moments.ts"
import { isContentType, type StoredStatus } from "../../statuses/StoredStatus.ts"
import type { Visibility } from "../../statuses/Visibility.ts"
import { localOnlyProperty } from "./ArchiveDocuments.ts"

/** Reasons for leaving out an item of an outbox: of another account, damaged or undated, or another activity. */
type SkipReason = "foreign" | "unreadable" | "unsupported"

/** Owner of an archive: ids of the actor and of its followers, and the folder of its files, if they are in one. */
export interface ArchiveOwner {
  readonly uri: string
  readonly followersUrl: string | null
  /** With a slash at its end, or empty. */
  readonly folder?: string
}

/** A post; `files` are the paths of its attachments, in the order of `note.attachments`. */
interface ArchivedPost {
  readonly kind: "post"
  readonly note: ForeignNote
  readonly localOnly: boolean
  readonly source: Pick<StoredStatus, "text" | "contentType"> | undefined
  readonly files: ReadonlyArray<string>
}

/** A boost of the post with the id `object`; `millis` is its time, in milliseconds since 1970. */
interface ArchivedBoost {
  readonly kind: "boost"
  readonly uri: string
  readonly object: string
  readonly millis: number
  readonly visibility: Visibility
}

export type ArchivedItem = ArchivedPost | ArchivedBoost | { readonly kind: "skipped"; readonly reason: SkipReason }

const skipped = (reason: SkipReason): ArchivedItem => ({ kind: "skipped", reason })

/** Host under which the paths of an archive become URLs, so that they are read as those of other documents. */
const archiveUrl = "https://archive.example.org/"
const urlCharactersMax = 2_048

/** Reads http URLs, and paths within the archive. Nothing is ever requested from them. */
const readUrl: ReadUrl = (value) => {
  if (typeof value !== "string" || value.length > urlCharactersMax) return undefined
  const url = URL.parse(value, archiveUrl) ?? undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.href.length <= urlCharactersMax ? url : undefined
}

/** Returns a file's path in the archive; Mastodon writes paths of its own server with or without a slash. */
const pathOf = (url: string): string => {
  const { pathname } = new URL(url)
  try {
    const path = decodeURIComponent(pathname).replace(/^\/(?:system\/)?/, "")
    // No archive has it, and Postgres rejects it.
    return path.includes("\0") ? pathname.slice(1) : path
  } catch {
    return pathname.slice(1)
  }
}

const sourceOf = (note: Foreign): ArchivedPost["source"] => {
  const source = asForeign(note["source"])
  const text = asText(source?.["content"], statusBytesMax)
  const contentType = source?.["mediaType"] ?? "text/plain"
  return text && isContentType(contentType) ? { text, contentType } : undefined
}

/** Parses an activity of an outbox that `owner` did, at `now` in milliseconds since 1970. */
export const archivedItem = (json: string, owner: ArchiveOwner, now: number): ArchivedItem => {
  const activity = asForeign(parsed(json))
  if (activity === undefined) return skipped("unreadable")
  const boost = typeOf(activity, "Announce")
  if (boost === undefined && typeOf(activity, "Create") === undefined) return skipped("unsupported")
  if (idOf(activity["actor"]) !== owner.uri) return skipped("foreign")
  const millis = momentOf(activity["published"])
  const uri = idOf(activity["id"])
  if (boost !== undefined) {
    const object = idOf(activity["object"])
    if (uri === undefined || object === undefined || millis === undefined || millis > now) return skipped("unreadable")
    const addressed = { to: idsOf(activity["to"]), cc: idsOf(activity["cc"]) }
    return { kind: "boost", uri, object, millis, visibility: visibilityOf(addressed, owner.followersUrl ?? undefined) }
  }
  const object = asForeign(activity["object"])
  if (object === undefined) return skipped("unreadable")
  if (!idsOf(object["attributedTo"]).includes(owner.uri)) return skipped("foreign")
  const published = object["published"] ?? activity["published"]
  if (momentOf(published) === undefined) return skipped("unreadable")
  const note = foreignNote({ ...object, published }, owner, now, readUrl)
  if (note === undefined) return skipped("unreadable")
  return {
    kind: "post",
    note,
    localOnly: object[localOnlyProperty] === true,
    source: sourceOf(object),
    files: note.attachments.map(({ url }) => `${owner.folder ?? ""}${pathOf(url)}`)
  }
}

/** Parses JSON; undefined for anything else. */
export const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
