import { Schema } from "effect"
import type { ServerConfig } from "./ServerConfig.ts"

type Base = Pick<ServerConfig["Service"], "publicUrl">
interface Named {
  readonly username: string
  readonly domain: string | null
}

/** Returns `user`, or `user@domain` for a remote account. */
export const acct = ({ domain, username }: Named): string => domain === null ? username : `${username}@${domain}`

/** Returns the URL of a local account's page. */
export const profile = ({ publicUrl }: Base, username: string): string => `${publicUrl}/@${username}`

/**
 * Path of a local account's ActivityPub id: `/users/NAME` or `/ap/users/NUMBER`, by the scheme of the account. Statements
 * read it as `actor_path` of the account's row; it has no meaning for remote accounts.
 */
export const ActorPath = Schema.String.pipe(Schema.brand("ActorPath"))
export type ActorPath = typeof ActorPath.Type

/** Returns the ActivityPub id of a local account. */
export const actor = ({ publicUrl }: Base, path: ActorPath): string => publicUrl + path

/** Returns the URL of a local account's posts with a hashtag. */
export const taggedProfile = (base: Base, username: string, name: string): string =>
  `${profile(base, username)}/tagged/${encodeURIComponent(name)}`

/** Returns the URL of a local status's page. */
export const status = (base: Base, username: string, id: bigint): string => `${profile(base, username)}/${id}`

/** Returns the URL of a local status's page for embedding in a frame. */
export const embedPage = (base: Base, username: string, id: bigint): string => `${status(base, username, id)}/embed`

/** Returns the oEmbed URL of a local status. */
export const oEmbed = (base: Base, username: string, id: bigint): string =>
  `${base.publicUrl}/api/oembed?${new URLSearchParams([["url", status(base, username, id)], ["format", "json"]])}`

/** Returns the ActivityPub id of a local status; `path` is its author's. */
export const note = (base: Base, path: ActorPath, id: bigint): string => `${actor(base, path)}/statuses/${id}`

/** Path prefix of stored files. */
export const filesPath = "/system"

/** Returns the URL of a stored file. */
export const file = ({ mediaUrl }: Pick<ServerConfig["Service"], "mediaUrl">, name: string): string =>
  `${mediaUrl}/${name}`

/** Path prefix of files of remote accounts. */
export const remoteFilesPath = "/media_proxy"

/**
 * Returns the URL of a remote account's file: through this server, or its origin. `key` is the `remote_key` of its URL.
 */
export const remoteFile = (
  { mediaProxied, publicUrl }: Pick<ServerConfig["Service"], "mediaProxied" | "publicUrl">,
  url: string | null,
  key: string | null
): string | null => url === null || key === null ? null : mediaProxied ? `${publicUrl}${remoteFilesPath}/${key}` : url

/** Returns the URL of a local collection's page. */
export const collection = ({ publicUrl }: Base, id: bigint): string => `${publicUrl}/collections/${id}`

/** Returns the URL of a hashtag's page. */
export const tag = ({ publicUrl }: Base, name: string): string => `${publicUrl}/tags/${encodeURIComponent(name)}`
