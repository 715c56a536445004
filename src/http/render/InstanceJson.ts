import { catchupHoursMax, catchupStatusesMax } from "../../services/feeds/Catchups.ts"
import { noteCharactersMax, statusCharactersMax, urlCharactersReserved } from "../../services/html/Text.ts"
import type { WeekOfActivity } from "../../services/instance/Activity.ts"
import * as Limits from "../../services/instance/ContentLimits.ts"
import type { DocumentVersion } from "../../services/instance/Documents.ts"
import type { About, RuleRecord, Usage } from "../../services/instance/Instance.ts"
import { acceptsSignUps, type Policies } from "../../services/instance/InstancePolicies.ts"
import { languages } from "../../services/instance/Languages.ts"
import { iconEdges, iconName } from "../../services/instance/PictureSettings.ts"
import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { interfaceLevel, interfaceVersion } from "../../services/instance/Software.ts"
import * as Urls from "../../services/instance/Urls.ts"
import { mimeNames } from "../../services/media/FileTypes.ts"
import { appealCharactersMax, appealDaysMax } from "../../services/moderation/Appeals.ts"
import { singlesMax } from "../../services/statuses/InteractionPolicy.ts"
import { accountReactionsMax, reactionsMax } from "../../services/statuses/ReactionEmoji.ts"
import { contentTypes } from "../../services/statuses/StoredStatus.ts"
import { html } from "../html/Html.ts"
import { iconPath, thumbnailPath } from "../html/PagePaths.ts"
import { onDemandEvents } from "../streaming/Registry.ts"
import type { Account } from "../wire/Account.ts"
import { muteExtensions } from "../wire/AccountRequests.ts"
import { timestampOrNull } from "../wire/Common.ts"
import type { Activity, Document, Instance, InstanceV1, Rule, TermsOfService } from "../wire/Instance.ts"
import { encode, json, type JsonOf, type JsonOfAny, type Values, withMembers } from "../wire/Keys.ts"
import { policyExtensions } from "../wire/NotificationPolicy.ts"
import { homeExtensions } from "../wire/ReadRequests.ts"
import { ruleValues } from "./Values.ts"

/** Input of both versions of the instance document. `contact` is the contact account, if there is one. */
interface InstanceFacts {
  readonly config: ServerConfig["Service"]
  readonly about: About
  readonly policies: Policies
  readonly rules: ReadonlyArray<RuleRecord>
  readonly usage: Usage
  readonly contact: JsonOfAny<Account | null>
  /** Media types that this machine's tools can read. */
  readonly mediaTypes: Iterable<string>
  /** Year of the annual reports on offer. */
  readonly campaign: number | undefined
  /** True if posts can be translated. */
  readonly translates: boolean
  /** True if the default role may invite people. */
  readonly invitesEnabled: boolean
  /** The public half of the key for web push, as base64url. */
  readonly vapidKey: string
}

const statuses = {
  maxCharacters: statusCharactersMax,
  maxMediaAttachments: Limits.mediaAttachmentsMax,
  charactersReservedPerUrl: urlCharactersReserved
}
const mediaAttachments = (types: Iterable<string>) => ({
  supportedMimeTypes: mimeNames(types),
  imageSizeLimit: Limits.imageBytesMax,
  imageMatrixLimit: Limits.imagePixelsMax,
  videoSizeLimit: Limits.videoBytesMax,
  videoFrameRateLimit: Limits.videoFramesPerSecondMax,
  videoMatrixLimit: Limits.videoPixelsMax
})
const polls = {
  maxOptions: Limits.pollOptionsMax,
  maxCharactersPerOption: Limits.pollOptionCharactersMax,
  minExpiration: Limits.pollSecondsMin,
  maxExpiration: Limits.pollSecondsMax
}
const accounts: Values<Instance["configuration"]["accounts"]> = {
  maxFeaturedTags: Limits.featuredTagsMax,
  maxPinnedStatuses: Limits.pinsMax,
  maxProfileFields: Limits.profileFieldsMax,
  profileFieldNameLimit: Limits.profileFieldCharactersMax,
  profileFieldValueLimit: Limits.profileFieldCharactersMax,
  maxDisplayNameLength: Limits.displayNameCharactersMax,
  maxNoteLength: noteCharactersMax,
  maxAvatarDescriptionLength: Limits.pictureDescriptionCharactersMax,
  maxHeaderDescriptionLength: Limits.pictureDescriptionCharactersMax
}

/** Features beyond Mastodon, by the names that apps know from Pleroma and Akkoma. */
const pleromaFeatures = ["pleroma_emoji_reactions", "pleroma_custom_emoji_reactions"]

const streamingUrl = (publicUrl: string) => publicUrl.replace(/^http/, "ws")

/** Description of the server's default picture. */
const ownDescription = "A flock of birds that turns in the evening sky"

/** Returns the preview picture: the operator's, or the default. */
const thumbnailOf = (config: ServerConfig["Service"], { thumbnail }: Pick<About, "thumbnail">) => {
  if (thumbnail === null) {
    const url = config.publicUrl + thumbnailPath
    // Mastodon omits sizes and blurhash here; the client library masto declares both as always present.
    return { url, blurhash: null, versions: { "@1x": url, "@2x": url }, description: ownDescription }
  }
  const url = Urls.file(config, thumbnail.fileName)
  const double = thumbnail.doubleName === null ? url : Urls.file(config, thumbnail.doubleName)
  const { blurhash, description } = thumbnail
  return { url, blurhash, versions: { "@1x": url, "@2x": double }, description }
}

const iconUrl = (config: ServerConfig["Service"], { appIcon }: Pick<About, "appIcon">, edge: number) => {
  const name = iconName(appIcon, edge)
  return name === undefined ? config.publicUrl + iconPath(edge) : Urls.file(config, name)
}

/** Renders the JSON of `GET /api/v2/instance`; every limit is the constant that enforces it. */
export const instanceJson = (
  { about, campaign, config, contact, mediaTypes, policies, rules, translates, usage, vapidKey }: InstanceFacts
): JsonOf<Instance> => {
  const { localDomain, publicUrl, sourceUrl } = config
  return withMembers<Instance, "contact">({
    domain: localDomain,
    title: about.title,
    version: interfaceVersion,
    sourceUrl: sourceUrl ?? "",
    description: about.description,
    usage: { users: { activeMonth: usage.activeMonth } },
    thumbnail: thumbnailOf(config, about),
    icon: iconEdges.map((edge) => ({ src: iconUrl(config, about, edge), size: `${edge}x${edge}` })),
    languages: about.languages,
    configuration: {
      urls: {
        streaming: streamingUrl(publicUrl),
        status: null,
        about: `${publicUrl}/about`,
        privacyPolicy: `${publicUrl}/privacy-policy`,
        termsOfService: about.termsOfService === null ? null : `${publicUrl}/terms-of-service`
      },
      vapid: { publicKey: vapidKey },
      accounts,
      statuses: { ...statuses, supportedMimeTypes: contentTypes, localOnly: true },
      mediaAttachments: { descriptionLimit: Limits.mediaDescriptionCharactersMax, ...mediaAttachments(mediaTypes) },
      polls,
      lists: {
        maxLists: Limits.listsMax,
        maxAccountsPerList: Limits.listAccountsMax,
        maxTagsPerList: Limits.listTagsMax
      },
      interactionPolicies: { maxAccounts: singlesMax },
      drafts: { maxDrafts: Limits.draftsMax },
      catchup: { maxStatuses: catchupStatusesMax, maxHours: catchupHoursMax },
      appeals: { maxDays: appealDaysMax, maxCharacters: appealCharactersMax },
      extensions: {
        homeParameters: homeExtensions,
        streamEvents: onDemandEvents,
        notificationPolicies: policyExtensions,
        muteParameters: muteExtensions
      },
      translation: { enabled: translates },
      timelinesAccess: {
        ...policies.timelinesAccess,
        trendingLinkFeeds: policies.timelinesAccess.hashtagFeeds
      },
      limitedFederation: config.limitedFederation
    },
    registrations: {
      enabled: acceptsSignUps(config, policies),
      approvalRequired: policies.registrations === "approval",
      reasonRequired: policies.registrations === "approval" && policies.reasonRequired,
      message: policies.registrations === "closed" ? policies.registrationsMessage?.html ?? null : null,
      minAge: policies.minAge,
      url: null
    },
    apiVersions: { mastodon: interfaceLevel },
    pleroma: {
      metadata: {
        features: pleromaFeatures,
        emojiReactions: { maxReactions: reactionsMax, maxReactionsPerAccount: accountReactionsMax }
      }
    },
    wrapstodon: campaign ?? null,
    rules: rules.map(ruleValues)
  }, { contact: withMembers<Instance["contact"], "account">({ email: about.contactEmail }, { account: contact }) })
}

/** Renders the JSON of `GET /api/v1/instance`, the older version. */
export const instanceV1Json = (
  { about, config, contact, invitesEnabled, mediaTypes, policies, rules, usage }: InstanceFacts
): JsonOf<InstanceV1> =>
  withMembers<InstanceV1, "contactAccount">({
    uri: config.localDomain,
    title: about.title,
    shortDescription: about.description,
    description: String(html`${about.description}`),
    email: about.contactEmail,
    version: interfaceVersion,
    urls: { streamingApi: streamingUrl(config.publicUrl) },
    stats: { userCount: usage.users, statusCount: usage.statuses, domainCount: usage.domains },
    thumbnail: thumbnailOf(config, about).url,
    languages: about.languages,
    registrations: acceptsSignUps(config, policies),
    approvalRequired: policies.registrations === "approval",
    invitesEnabled,
    configuration: {
      accounts: { maxFeaturedTags: Limits.featuredTagsMax },
      statuses,
      mediaAttachments: mediaAttachments(mediaTypes),
      polls
    },
    rules: rules.map(ruleValues)
  }, { contactAccount: contact })

export const rulesJson = (rules: ReadonlyArray<RuleRecord>) => json<ReadonlyArray<Rule>>(rules.map(ruleValues))

/** Renders a text about the server; empty if the operator has written none. */
export const documentJson = (text: About["extendedDescription"]) =>
  json<Document>({ updatedAt: timestampOrNull(text?.updatedAt ?? null), content: text?.html ?? "" })

/** Renders the terms of service; `today` is a day such as 2026-01-31. */
export const termsJson = ({ html, since, succeededBy }: DocumentVersion, today: string) =>
  json<TermsOfService>({ effectiveDate: since, effective: since <= today, content: html, succeededBy })

/** Renders the weekly activity; numbers are sent as strings (S-126). */
export const activityJson = (weeks: ReadonlyArray<WeekOfActivity>) =>
  json<ReadonlyArray<Activity>>(weeks.map(({ logins, registrations, start, statuses }) => ({
    week: String(start),
    statuses: String(statuses),
    logins: String(logins),
    registrations: String(registrations)
  })))

/** Languages in which posts can be written. */
export const languagesJson = encode(languages)
