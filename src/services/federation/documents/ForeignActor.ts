import { makeByteLimit } from "../../html/ByteLimit.ts"
import { sanitise } from "../../html/Sanitise.ts"
import { accountBytesMax } from "../../instance/ContentLimits.ts"
import { momentOf } from "../../runtime/Moments.ts"
import { bounded } from "../../text/BoundedText.ts"
import { normalizeDomain, parseHandle } from "../DomainNames.ts"
import { type ForeignEmoji, foreignEmojis } from "./ForeignEmoji.ts"
import { type ForeignKey, foreignKeys } from "./ForeignKeys.ts"
import { type ForeignPicture, foreignPicture } from "./ForeignMedia.ts"
import { asForeign, asList, asText, type Foreign, idOf, idsOf, type ReadUrl, typeOf } from "./ForeignValues.ts"
import { isPublicCollection } from "./Vocabulary.ts"

/* Limits of federation.md section 3, in characters and members (row 39). */
export const nameCharactersMax = 2_048
/** Names are indexed, and an index entry has at most 2,704 bytes. */
const nameBytesMax = 2_048
const summaryCharactersMax = accountBytesMax
export const fieldsMax = 50
export const fieldCharactersMax = 2_047
export const aliasesMax = 256
/**
 * Maximum characters of a username, the same as where handles are typed (html/Tokens.ts), and of an actor's URLs: one
 * API page may contain thousands of these.
 */
export const usernameCharactersMax = 255
const actorUrlCharactersMax = 512

/** Object types that are actors. */
export const actorTypes = ["Application", "Group", "Organization", "Person", "Service"] as const

const username = /^[a-z0-9_]+(?:[.-]+[a-z0-9_]+)*$/i

/** Remote account from its actor document; every value was validated and truncated. */
export interface ForeignActor {
  readonly id: URL
  readonly type: string
  readonly username: string
  /** Handle that the document claims; its domain must confirm it. */
  readonly handle: { readonly username: string; readonly domain: string } | undefined
  readonly displayName: string
  readonly noteHtml: string
  readonly url: string
  readonly fields: ReadonlyArray<{ readonly name: string; readonly value: string; readonly html: string }>
  readonly locked: boolean
  readonly discoverable: boolean
  readonly indexable: boolean
  readonly memorial: boolean
  readonly suspended: boolean
  /** Profile tabs; shown unless the document says false. */
  readonly showFeatured: boolean
  readonly showMedia: boolean
  readonly showMediaReplies: boolean
  readonly publishedAt: Date | undefined
  readonly inboxUrl: string
  readonly sharedInboxUrl: string | null
  readonly outboxUrl: string | null
  readonly followersUrl: string | null
  readonly followingUrl: string | null
  readonly featuredUrl: string | null
  readonly featuredTagsUrl: string | null
  readonly featuredCollectionsUrl: string | null
  /** Audiences that may add the account to a collection, automatically or after a request; undefined if unspecified. */
  readonly featuredBy: { readonly automatic: ReadonlyArray<Group>; readonly manual: ReadonlyArray<Group> } | undefined
  readonly alsoKnownAs: ReadonlyArray<string>
  /** Id of the account that this one moved to. */
  readonly movedTo: string | null
  /** Domains whose pages may name it as their author. */
  readonly attributionDomains: ReadonlyArray<string>
  readonly keys: ReadonlyArray<ForeignKey>
  readonly avatar: ForeignPicture | undefined
  readonly header: ForeignPicture | undefined
  readonly emojis: ReadonlyArray<ForeignEmoji>
}

const fieldsOf = (actor: Foreign) =>
  asList(actor["attachment"]).slice(0, fieldsMax).flatMap((item) => {
    const field = asForeign(item)
    const name = asText(field?.["name"], fieldCharactersMax)
    const value = asText(field?.["value"], fieldCharactersMax)
    return field === undefined || typeOf(field, "PropertyValue") === undefined || name === undefined ||
        value === undefined
      ? []
      : [{ name, value, html: sanitise(bounded(value)) }]
  })

/** Plain strings only (row 15). */
const domainsOf = (value: unknown): ReadonlyArray<string> =>
  asList(value).slice(0, aliasesMax).flatMap((one) => typeof one === "string" ? normalizeDomain(one) ?? [] : [])

const dateOf = (value: unknown): Date | undefined => {
  const millis = momentOf(value)
  return millis === undefined ? undefined : new Date(millis)
}

type Group = "public" | "followers" | "following" | "unsupported_policy"

/** Returns the groups that a policy names by their URLs (FEP-7aa9). */
const groupsOf = (
  value: unknown,
  { followers, following }: Record<"followers" | "following", string | null>,
  self: unknown
) => [
  ...new Set(
    idsOf(value).filter((id) => id !== self).map((id): Group =>
      isPublicCollection(id)
        ? "public"
        : id === followers
        ? "followers"
        : id === following
        ? "following"
        : "unsupported_policy"
    )
  )
]

const featuredBy = (document: Foreign, own: Record<"followers" | "following", string | null>) => {
  const policy = asForeign(asForeign(document["interactionPolicy"])?.["canFeature"])
  return policy && {
    automatic: groupsOf(policy["automaticApproval"], own, document["id"]),
    manual: groupsOf(policy["manualApproval"], own, document["id"])
  }
}

/** Parses an actor document that `id` served; undefined if its form is not supported. */
export const foreignActor = (document: Foreign, id: URL, readUrl: ReadUrl): ForeignActor | undefined => {
  const type = typeOf(document, ...actorTypes)
  const inbox = readUrl(document["inbox"])
  // FEP-2c59: the claimed handle, which its domain must confirm.
  const handle = typeof document["webfinger"] === "string" ? parseHandle(document["webfinger"]) : undefined
  const name = document["preferredUsername"] ?? handle?.username
  if (
    document["id"] !== id.href || id.href.length > actorUrlCharactersMax || type === undefined || inbox === undefined
  ) return undefined
  if (typeof name !== "string" || name.length > usernameCharactersMax || !username.test(name)) return undefined
  /**
   * Its collections must be on its own server: another server's URL as `followers` would change the audience of posts.
   */
  const own = (field: string) => {
    const url = readUrl(document[field])
    return url?.origin === id.origin ? url.href : null
  }
  const page = asList(document["url"]).map((item) => readUrl(asForeign(item)?.["href"] ?? item))
    .find((url) => url?.host === id.host && url.href.length <= actorUrlCharactersMax)
  const shared = readUrl(asForeign(document["endpoints"])?.["sharedInbox"] ?? document["sharedInbox"])
  const room = makeByteLimit(accountBytesMax)
  const lists = makeByteLimit(accountBytesMax)
  const flag = (field: string) => document[field] === true
  const shown = (field: string) => document[field] !== false
  return {
    id,
    type,
    username: name,
    handle,
    displayName: room.text(makeByteLimit(nameBytesMax).text(asText(document["name"], nameCharactersMax) ?? "")),
    noteHtml: room.html(asText(document["summary"], summaryCharactersMax) ?? ""),
    url: page?.href ?? id.href,
    fields: room.members(fieldsOf(document), ({ html, name, value }) => [name, value, html]),
    locked: flag("manuallyApprovesFollowers"),
    discoverable: flag("discoverable"),
    indexable: flag("indexable"),
    memorial: flag("memorial"),
    suspended: flag("suspended"),
    showFeatured: shown("showFeatured"),
    showMedia: shown("showMedia"),
    showMediaReplies: shown("showRepliesInMedia"),
    publishedAt: dateOf(document["published"]),
    inboxUrl: inbox.href,
    sharedInboxUrl: shared?.href ?? null,
    outboxUrl: own("outbox"),
    followersUrl: own("followers"),
    followingUrl: own("following"),
    featuredUrl: own("featured"),
    featuredTagsUrl: own("featuredTags"),
    featuredCollectionsUrl: own("featuredCollections"),
    featuredBy: featuredBy(document, { followers: own("followers"), following: own("following") }),
    alsoKnownAs: lists.members(
      idsOf(document["alsoKnownAs"]).slice(0, aliasesMax).flatMap((alias) => readUrl(alias)?.href ?? []),
      (alias) => [alias]
    ),
    movedTo: readUrl(idOf(document["movedTo"]))?.href ?? null,
    attributionDomains: lists.members(domainsOf(document["attributionDomains"]), (domain) => [domain]),
    keys: foreignKeys(document, id),
    avatar: foreignPicture(document["icon"], readUrl),
    header: foreignPicture(document["image"], readUrl),
    emojis: foreignEmojis(document, readUrl)
  }
}
