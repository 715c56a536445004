import type { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import type { AccountRecord } from "./Accounts.ts"

/** Paths of the default pictures. */
export const missingAvatarPath = "/avatars/original/missing.png"
export const missingHeaderPath = "/headers/original/missing.png"

type Pictures = Pick<
  AccountRecord,
  | "avatarName"
  | "avatarStaticName"
  | "avatarRemoteUrl"
  | "avatarRemoteKey"
  | "headerName"
  | "headerStaticName"
  | "headerRemoteUrl"
  | "headerRemoteKey"
  | "suspended"
>

/** Returns the URLs of an account's pictures: the default ones if it has none or is suspended. */
export const picturesOf = (config: ServerConfig["Service"], record: Pictures) => {
  const address = (name: string | null, remote: string | null, missing: string) => {
    const found = name === null ? remote : Urls.file(config, name)
    return found === null || record.suspended ? config.publicUrl + missing : found
  }
  const avatar = Urls.remoteFile(config, record.avatarRemoteUrl, record.avatarRemoteKey)
  const header = Urls.remoteFile(config, record.headerRemoteUrl, record.headerRemoteKey)
  return {
    avatar: address(record.avatarName, avatar, missingAvatarPath),
    avatarStatic: address(record.avatarStaticName ?? record.avatarName, avatar, missingAvatarPath),
    header: address(record.headerName, header, missingHeaderPath),
    headerStatic: address(record.headerStaticName ?? record.headerName, header, missingHeaderPath)
  }
}
