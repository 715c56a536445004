import type { ServerConfig } from "./ServerConfig.ts"

type Base = Pick<ServerConfig["Service"], "publicUrl">
interface Named {
  readonly username: string
  readonly domain: string | null
}

/** `user`, or `user@domain` for a remote account. */
export const acct = ({ domain, username }: Named): string => domain === null ? username : `${username}@${domain}`

/** The page of a local account. */
export const profile = ({ publicUrl }: Base, username: string): string => `${publicUrl}/@${username}`

/** The ActivityPub id of a local account. */
export const actor = ({ publicUrl }: Base, username: string): string => `${publicUrl}/users/${username}`

/** The posts of a local account with a hashtag. */
export const taggedProfile = (base: Base, username: string, name: string): string =>
  `${profile(base, username)}/tagged/${encodeURIComponent(name)}`

/** The page of a local status. */
export const status = (base: Base, username: string, id: bigint): string => `${profile(base, username)}/${id}`

/** The page of a local status that other sites show in a frame. */
export const frame = (base: Base, username: string, id: bigint): string => `${status(base, username, id)}/embed`

/** Where others learn how to show a local status on their pages. */
export const embedding = (base: Base, username: string, id: bigint): string =>
  `${base.publicUrl}/api/oembed?${new URLSearchParams([["url", status(base, username, id)], ["format", "json"]])}`

/** The ActivityPub id of a local status. */
export const note = (base: Base, username: string, id: bigint): string => `${actor(base, username)}/statuses/${id}`

/** Below which this server serves its stored files. */
export const filesPath = "/system"

/** A stored file by its name. */
export const file = ({ mediaUrl }: Pick<ServerConfig["Service"], "mediaUrl">, name: string): string =>
  `${mediaUrl}/${name}`

/** Below which this server serves files of remote accounts. */
export const remoteFilesPath = "/media_proxy"

/** A file of a remote account: by way of this server, or where it is. `key` is its address' `remote_key`. */
export const remoteFile = (
  { mediaProxied, publicUrl }: Pick<ServerConfig["Service"], "mediaProxied" | "publicUrl">,
  url: string | null,
  key: string | null
): string | null => url === null || key === null ? null : mediaProxied ? `${publicUrl}${remoteFilesPath}/${key}` : url

/** The page of a collection of accounts of this server. */
export const collection = ({ publicUrl }: Base, id: bigint): string => `${publicUrl}/collections/${id}`

/** Where the posts with a hashtag are shown. */
export const tag = ({ publicUrl }: Base, name: string): string => `${publicUrl}/tags/${encodeURIComponent(name)}`
