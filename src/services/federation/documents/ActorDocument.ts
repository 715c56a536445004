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
import { actorContext, type Document, everybody, moment } from "./Vocabulary.ts"

const publicKey = (actor: string, publicKeyPem: string): Document => ({
  id: LocalIds.key(actor),
  owner: actor,
  publicKeyPem
})

/** Midnight of the day, so that nobody learns when somebody was at the machine. */
const day = (date: Date) => moment(new Date(Math.floor(date.getTime() / 86_400_000) * 86_400_000))

/** What an actor's document says beside the profile: ids of actors that the account is as well, domains whose pages may name it. */
export const Linked = Schema.Struct({
  alsoKnownAs: Schema.Array(Schema.String),
  attributionDomains: Schema.Array(Schema.String),
  /** The biography as it was written, for its hashtags. */
  note: Schema.String
})
type Linked = typeof Linked.Type

/** The same, with the id of the account that it has become. */
interface Links extends Linked {
  readonly movedTo: string | undefined
}

/** Hashtags of a biography, each once, by the names under which they are found. */
const bioTags = (config: Pick<ServerConfig["Service"], "publicUrl">, note: string): ReadonlyArray<Document> => {
  const names = tokens(note).flatMap((token) => token.kind === "hashtag" ? normalise(bounded(token.name)) : [])
  return [...new Set(names)].map((name) => ({ type: "Hashtag", href: Urls.tag(config, name), name: `#${name}` }))
}

/** What its owner wrote; a suspended account shows nothing of it (federation.md section 3). */
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

/** Who may put it into a collection without asking: those who decide are `FeaturePolicy.ts`. */
const featuredBy = (actor: string, { discoverable, locked, suspended }: AccountRecord): string =>
  suspended || discoverable !== true ? actor : locked ? LocalIds.followers(actor) : everybody

/** A local account as others read it, with the emoji that its texts name. */
export const actorDocument = (
  config: Pick<ServerConfig["Service"], "publicUrl" | "localDomain" | "mediaUrl">,
  record: AccountRecord,
  publicPem: string,
  emojis: ReadonlyArray<Emoji>,
  links: Links
): Document => {
  const actor = LocalIds.actor(config, record.username)
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
    publicKey: publicKey(actor, publicPem)
  }
}

/** The server itself as an actor, which asks for documents and reports. */
export const instanceDocument = (
  config: Pick<ServerConfig["Service"], "publicUrl" | "localDomain">,
  publicPem: string
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
    publicKey: publicKey(actor, publicPem)
  }
}
