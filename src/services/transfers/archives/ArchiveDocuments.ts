import type { Document } from "../../federation/documents/Vocabulary.ts"
import type { AccountRecord } from "../../identity/Accounts.ts"
import type { ServerConfig } from "../../instance/ServerConfig.ts"
import * as Urls from "../../instance/Urls.ts"

/** Folder of the posts' files in an archive, as in Mastodon. */
const mediaFolder = "media_attachments/files"

/** Property of a post in an archive that other servers never got; only this server reads it. */
export const localOnlyProperty = "localOnly"

/** Returns the path of a stored file of a post. */
export const mediaPath = (name: string): string => `${mediaFolder}/${name}`

const extensionOf = (name: string) => name.slice(name.lastIndexOf("."))

/** Returns the stored pictures of a profile with their paths: `avatar.*` and `header.*`. */
export const pictures = (
  { avatarName, headerName }: Pick<AccountRecord, "avatarName" | "headerName">
): ReadonlyArray<{ readonly path: string; readonly name: string }> => [
  ...(avatarName === null ? [] : [{ path: `avatar${extensionOf(avatarName)}`, name: avatarName }]),
  ...(headerName === null ? [] : [{ path: `header${extensionOf(headerName)}`, name: headerName }])
]

/** Returns an actor document whose pictures and collections are the files of the archive. */
export const actor = (document: Document, record: Pick<AccountRecord, "avatarName" | "headerName">): Document => {
  const [avatar, header] = [record.avatarName, record.headerName]
  const pictured = (property: "icon" | "image", path: string | undefined) => {
    const picture = document[property]
    return path === undefined || typeof picture !== "object" ? {} : { [property]: { ...picture, url: path } }
  }
  return {
    ...document,
    ...pictured("icon", avatar === null ? undefined : `avatar${extensionOf(avatar)}`),
    ...pictured("image", header === null ? undefined : `header${extensionOf(header)}`),
    outbox: "outbox.json",
    likes: "likes.json",
    bookmarks: "bookmarks.json"
  }
}

type Config = Pick<ServerConfig["Service"], "mediaUrl">

/** Replaces the URL of a stored file by its path in the archive, also that of the file's `icon`. */
const attachment = (config: Config, document: unknown): unknown => {
  if (typeof document !== "object" || document === null) return document
  const prefix = Urls.file(config, "")
  const url = "url" in document && typeof document.url === "string" ? document.url : ""
  return {
    ...document,
    ...(url.startsWith(prefix) ? { url: mediaPath(url.slice(prefix.length)) } : {}),
    ...("icon" in document ? { icon: attachment(config, document.icon) } : {})
  }
}

/** Returns a post's Create or Announce as the outbox of an archive has it. */
export const activity = (config: Config, document: Document, localOnly: boolean): Document => {
  const note = document["object"]
  if (typeof note !== "object" || note === null) return document
  const files = "attachment" in note && Array.isArray(note.attachment) ? note.attachment : []
  return {
    ...document,
    object: {
      ...note,
      attachment: files.map((file) => attachment(config, file)),
      ...(localOnly ? { [localOnlyProperty]: true } : {})
    }
  }
}

/** Returns the text before the first item of an OrderedCollection. */
export const collectionStart = (id: string, context: unknown): string =>
  `{"@context":${JSON.stringify(context)},"id":${JSON.stringify(id)},"type":"OrderedCollection","orderedItems":[`

/** Returns the text after the last item; the total follows the items, because only then is it known. */
export const collectionEnd = (totalItems: number): string => `\n],"totalItems":${totalItems}}`
