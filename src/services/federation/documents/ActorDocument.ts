import { Schema } from "effect"
import { normalise } from "../../html/HashtagNames.ts"
import { tokens } from "../../html/TextTokens.ts"
import type { AccountRecord } from "../../identity/Accounts.ts"
import type { Emoji } from "../../instance/Emoji.ts"
import type { ServerConfig } from "../../instance/ServerConfig.ts"
import * as Urls from "../../instance/Urls.ts"
import { bounded } from "../../text/BoundedText.ts"
import * as LocalIds from "../LocalIds.ts"
import { picture } from "./AttachmentDocument.ts"
import { capabilities } from "./Capabilities.ts"
import { emojiDocument } from "./EmojiDocument.ts"
import { actorContext, type Document, moment, portableContext, publicCollection } from "./Vocabulary.ts"

/** Public half of a local actor's key. */
interface ShownKey {
  readonly keyId: string
  readonly publicPem: string
}

/** Returns an actor's keys. A single one is no list, as most servers read only that form. */
const publicKeys = (
  actor: string,
  keys: readonly [ShownKey, ...ReadonlyArray<ShownKey>]
): Document | ReadonlyArray<Document> => {
  const shown = ({ keyId, publicPem }: ShownKey) => ({ id: keyId, owner: actor, publicKeyPem: publicPem })
  const [first, ...others] = keys
  return others.length === 0 ? shown(first) : [first, ...others].map(shown)
}

/** Returns midnight of the day: the exact time would show when the user was online. */
const day = (date: Date) => moment(new Date(Math.floor(date.getTime() / 86_400_000) * 86_400_000))

/**
 * Properties of an actor document besides the profile: its aliases' ids, and domains whose pages may name it as author.
 */
export const Linked = Schema.Struct({
  alsoKnownAs: Schema.Array(Schema.String),
  attributionDomains: Schema.Array(Schema.String),
  /** Source text of the biography, for its hashtags. */
  note: Schema.String
})
type Linked = typeof Linked.Type

/** `Linked`, with the id of the account that this one moved to. */
interface Links extends Linked {
  readonly movedTo: string | undefined
}

/** Returns hashtags of a biography, deduplicated by their normalised names. */
const bioTags = (config: Pick<ServerConfig["Service"], "publicUrl">, note: string): ReadonlyArray<Document> => {
  const names = tokens(note).flatMap((token) => token.kind === "hashtag" ? normalise(bounded(token.name)) : [])
  return [...new Set(names)].map((name) => ({ type: "Hashtag", href: Urls.tag(config, name), name: `#${name}` }))
}

/** Returns properties that the owner wrote. A suspended account shows none of them (federation.md section 3). */
const profile = (
  config: Pick<ServerConfig["Service"], "publicUrl" | "mediaUrl">,
  record: AccountRecord,
  emojis: ReadonlyArray<Emoji>,
  { alsoKnownAs, attributionDomains, movedTo, note }: Links
): Document => {
  const {
    avatarDescription,
    avatarName,
    displayName,
    fields,
    headerDescription,
    headerName,
    noteHtml,
    suspended,
    username
  } = record
  const shown = (name: string, summary: string) => ({
    ...picture(config, name),
    ...(summary === "" ? {} : { summary })
  })
  if (suspended) return { name: username, summary: "", attachment: [], tag: [] }
  return {
    name: displayName.trim() || username,
    summary: noteHtml,
    attachment: fields.map(({ html, name }) => ({ type: "PropertyValue", name, value: html })),
    tag: [...bioTags(config, note), ...emojis.map((emoji) => emojiDocument(config, emoji))],
    ...(avatarName === null ? {} : { icon: shown(avatarName, avatarDescription) }),
    ...(headerName === null ? {} : { image: shown(headerName, headerDescription) }),
    ...(alsoKnownAs.length === 0 ? {} : { alsoKnownAs }),
    ...(attributionDomains.length === 0 ? {} : { attributionDomains }),
    ...(movedTo === undefined ? {} : { movedTo })
  }
}

/** Returns the audience that may add the account to a collection without asking; `FeaturePolicy.ts` enforces it. */
const featuredBy = (actor: string, { discoverable, locked, suspended }: AccountRecord): string =>
  suspended || discoverable !== true ? actor : locked ? LocalIds.followers(actor) : publicCollection

/** Returns a local account's actor document, with the emoji that its texts name. */
export const actorDocument = (
  config: Pick<ServerConfig["Service"], "publicUrl" | "localDomain" | "mediaUrl">,
  record: AccountRecord,
  keys: readonly [ShownKey, ...ReadonlyArray<ShownKey>],
  emojis: ReadonlyArray<Emoji>,
  links: Links
): Document => {
  const actor = LocalIds.actor(config, record.actorPath)
  return {
    "@context": actorContext,
    id: actor,
    type: record.bot ? "Service" : "Person",
    webfinger: `${record.username}@${config.localDomain}`,
    preferredUsername: record.username,
    ...profile(config, record, emojis, links),
    url: Urls.profile(config, record.username),
    inbox: LocalIds.inbox(actor),
    outbox: LocalIds.outbox(actor),
    followers: LocalIds.followers(actor),
    following: LocalIds.following(actor),
    featured: LocalIds.featured(actor),
    featuredTags: LocalIds.featuredTags(actor),
    featuredCollections: LocalIds.featuredCollections(config, record.id),
    interactionPolicy: { canFeature: { automaticApproval: [featuredBy(actor, record)] } },
    endpoints: { sharedInbox: LocalIds.sharedInbox(config) },
    accountPortabilityOauth: LocalIds.portabilityAuthorization(config),
    manuallyApprovesFollowers: record.locked,
    discoverable: !record.suspended && record.discoverable === true,
    indexable: !record.suspended && record.indexable,
    memorial: record.memorial,
    suspended: record.suspended,
    showFeatured: record.showFeatured,
    showMedia: record.showMedia,
    showRepliesInMedia: record.showMediaReplies,
    published: day(record.createdAt),
    generator: { id: LocalIds.instanceActor(config), type: "Application", implements: capabilities },
    publicKey: publicKeys(actor, keys)
  }
}

/** Returns a local actor's document with the collections that a server with the user's consent copies (LOLA 0.2). */
export const portableDocument = (document: Document, actor: string): Document => ({
  ...document,
  "@context": portableContext,
  migration: LocalIds.migration(actor),
  content: LocalIds.content(actor),
  blocked: LocalIds.blocked(actor),
  liked: LocalIds.liked(actor)
})

/** Returns the document of the server's own actor, which fetches documents and sends reports. */
export const instanceDocument = (
  config: Pick<ServerConfig["Service"], "publicUrl" | "localDomain">,
  keys: readonly [ShownKey, ...ReadonlyArray<ShownKey>]
): Document => {
  const actor = LocalIds.instanceActor(config)
  return {
    "@context": actorContext,
    id: actor,
    type: "Application",
    preferredUsername: LocalIds.instanceName(config),
    inbox: LocalIds.inbox(actor),
    outbox: LocalIds.outbox(actor),
    endpoints: { sharedInbox: LocalIds.sharedInbox(config) },
    url: `${config.publicUrl}/about`,
    manuallyApprovesFollowers: true,
    implements: capabilities,
    publicKey: publicKeys(actor, keys)
  }
}
