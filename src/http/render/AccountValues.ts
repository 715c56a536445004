import { unknownDomain } from "../../services/federation/DomainNames.ts"
import type { AccountRecord } from "../../services/identity/Accounts.ts"
import { picturesOf } from "../../services/identity/PictureAddresses.ts"
import type { Emoji } from "../../services/instance/Emoji.ts"
import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import type { Account } from "../wire/Account.ts"
import { day, id, midnight } from "../wire/Common.ts"
import type { CustomEmoji } from "../wire/CustomEmoji.ts"
import type { Values } from "../wire/Keys.ts"

/** Returns a record's values for the API; a suspended account keeps its name, but nothing that it wrote (S-045). */
export const accountValues = (
  config: ServerConfig["Service"],
  record: AccountRecord,
  emojis: ReadonlyArray<Emoji>
): Values<Account> => {
  const { suspended } = record
  const local = record.domain === null
  const { avatar, avatarStatic, header, headerStatic } = picturesOf(config, record)
  return {
    id: id(record.id),
    username: record.username,
    acct: Urls.acct(record),
    displayName: suspended ? "" : record.displayName,
    locked: !suspended && record.locked,
    bot: !suspended && record.bot,
    discoverable: suspended ? false : record.discoverable,
    indexable: !suspended && record.indexable,
    group: record.isGroup,
    createdAt: midnight(record.createdAt),
    note: suspended ? "" : record.noteHtml,
    url: record.url ?? Urls.profile(config, record.username),
    uri: record.uri ?? Urls.actor(config, record.actorPath),
    avatar,
    avatarStatic,
    avatarDescription: suspended ? "" : record.avatarDescription,
    header,
    headerStatic,
    headerDescription: suspended ? "" : record.headerDescription,
    followersCount: record.followersCount,
    followingCount: record.followingCount,
    statusesCount: record.statusesCount,
    lastStatusAt: record.lastStatusAt === null ? null : day(record.lastStatusAt),
    hideCollections: record.hideCollections,
    showMedia: record.showMedia,
    showMediaReplies: record.showMediaReplies,
    showFeatured: record.showFeatured,
    emojis: suspended ? [] : emojis.map(emojiValues),
    fields: suspended
      ? []
      : record.fields.map(({ html, name, verifiedAt }) => ({ name, value: html, verifiedAt })),
    featureApproval: approval(record),
    ...(local && {
      noindex: record.noindex,
      roles: suspended || record.roleId === null
        ? []
        : [{ id: id(record.roleId), name: record.roleName ?? "", color: record.roleColor ?? "" }]
    }),
    ...(config.emailSubscriptions && { emailSubscriptions: !suspended && record.emailSubscriptions }),
    ...(suspended && { suspended: true }),
    ...(record.silenced && { limited: true }),
    ...(record.memorial && { memorial: true }),
    ...(record.domain === unknownDomain && { invalidHandle: true })
  }
}

/** Returns who may add the account to a collection; the viewer's own relation is checked when they try. */
const approval = ({ discoverable, domain, featureAutomatic, featureManual, locked, suspended }: AccountRecord): Values<
  Account["feature_approval"]
> => {
  const automatic = domain !== null
    ? featureAutomatic ?? []
    : suspended || discoverable !== true
    ? []
    : [locked ? "followers" : "public"]
  const manual = featureManual ?? []
  const currentUser = domain !== null && featureAutomatic === null
    ? "missing"
    : automatic.includes("public")
    ? "automatic"
    : manual.includes("public")
    ? "manual"
    : [...automatic, ...manual].includes("unsupported_policy")
    ? "unknown"
    : "denied"
  return { automatic, manual, currentUser }
}

export const emojiValues = ({ category, shortcode, staticUrl, url, visibleInPicker }: Emoji): Values<CustomEmoji> => ({
  shortcode,
  url,
  staticUrl,
  visibleInPicker,
  ...(category !== null && { category })
})
