import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { type AccountId, MediaId, type StatusId } from "../../../services/database/Ids.ts"
import { Settings } from "../../../services/identity/Settings.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { MediaAttachments } from "../../../services/media/MediaAttachments.ts"
import { NotAllowed, type RecordNotFound } from "../../../services/runtime/Errors.ts"
import type { QuotePolicy } from "../../../services/statuses/InteractionPolicy.ts"
import { Statuses } from "../../../services/statuses/Statuses.ts"
import { UnpublishedPosts } from "../../../services/statuses/UnpublishedPosts.ts"
import type { Visibility } from "../../../services/statuses/Visibility.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import type { ShownStatus } from "../status/StatusText.ts"
import { blank, type Composition, compositionOfPost, controlOf, statusId } from "./Composition.ts"
import { type ShownFile, shownFile, uploadedFile } from "./FileFields.ts"
import { zoneOf } from "./ScheduledTimes.ts"

/** Builds what the composer starts with, and what it shows with it. */
export class Compositions extends Context.Service<Compositions, {
  /** Key of a form, which no other form has. */
  readonly newKey: Effect.Effect<string>
  /** An empty composition with the member's defaults. */
  readonly standard: (viewer: AccountId) => Effect.Effect<Composition, RecordNotFound>
  /** Reads a composition from the query of the composer's page. */
  readonly asked: (visit: MemberVisit) => Effect.Effect<Composition, RecordNotFound | NotAllowed>
  readonly ofDraft: (viewer: AccountId, id: StatusId) => Effect.Effect<Composition, RecordNotFound>
  /** Composition of one of the viewer's posts, for an edit or a redraft. */
  readonly ofOwn: (viewer: AccountId, id: StatusId) => Effect.Effect<Composition, RecordNotFound | NotAllowed>
  /** Returns the files of a composition that exist, as the composer shows them. */
  readonly filesOf: (viewer: AccountId, composition: Composition) => Effect.Effect<ReadonlyArray<ShownFile>>
  readonly status: (viewer: AccountId, id: StatusId) => Effect.Effect<ShownStatus, RecordNotFound>
}>()("murmuration/http/web/compose/Compositions") {
  static readonly layer = Layer.effect(Compositions, Effect.suspend(() => make)).pipe(Layer.provide(StatusViews.layer))
}

/** Bytes of a form's key. */
const keyBytes = 12

/** Maximum characters of a text that a link fills in. */
const sharedCharactersMax = 5_000

const strictest: ReadonlyArray<Visibility> = ["public", "unlisted", "private", "direct"]

/** Returns the stricter of two offeredVisibilities; local posts stay local. */
const stricter = (chosen: Composition["audience"], parent: Visibility): Composition["audience"] =>
  chosen === "local"
    ? parent === "private" || parent === "direct" ? parent : chosen
    : strictest[Math.max(strictest.indexOf(chosen), strictest.indexOf(parent))] ?? parent

/** Returns the quote policy of a status that comes closest to its audiences. */
export const quotePolicyOf = ({ quoteApproval: { automatic } }: ShownStatus): QuotePolicy =>
  automatic.includes("public") ? "public" : automatic.includes("followers") ? "followers" : "nobody"

const make = Effect.gen(function*() {
  const attachments = yield* MediaAttachments
  const config = yield* ServerConfig
  const random = yield* SecureRandom.SecureRandom
  const settings = yield* Settings
  const statuses = yield* Statuses
  const views = yield* StatusViews
  const { drafts } = yield* UnpublishedPosts

  const newKey = Effect.map(Effect.orDie(random.randomBytes(keyBytes)), (bytes) => Base64Url.encode(bytes))

  const standard = Effect.fnUntraced(function*(viewer: AccountId) {
    const { language, quotePolicy, sensitive, timeZone, visibility } = yield* settings.of(viewer)
    return {
      ...blank(yield* newKey),
      audience: visibility,
      sensitive,
      language: language ?? "",
      quotePolicy,
      zone: zoneOf(timeZone)
    }
  })

  const status = (viewer: AccountId, id: StatusId) => Effect.map(views.renderOne(viewer, id), (json) => read(json))

  const ofDraft = Effect.fnUntraced(function*(viewer: AccountId, id: StatusId) {
    const { media, post } = yield* drafts.find(viewer, id)
    const files = media.map((record) => uploadedFile(config, record, MediaId.make(BigInt(record.id))))
    return { ...compositionOfPost(post, files, yield* standard(viewer)), draft: id }
  })

  const ofOwn = Effect.fnUntraced(function*(viewer: AccountId, id: StatusId) {
    const shown = yield* status(viewer, id)
    if (shown.account.id !== String(viewer) || shown.reblog !== null) return yield* new NotAllowed()
    const { contentType, spoilerText, text } = yield* statuses.source(viewer, id)
    const [record] = yield* statuses.load([id])
    const own: Composition = {
      ...(yield* standard(viewer)),
      texts: [text],
      contentType: contentType === "text/plain" ? "" : contentType,
      spoiler: spoilerText,
      sensitive: shown.sensitive,
      audience: shown.localOnly === true ? "local" : shown.visibility,
      language: shown.language ?? "",
      options: shown.poll?.options.map(({ title }) => title) ?? [],
      multiple: shown.poll?.multiple ?? false,
      quotePolicy: quotePolicyOf(shown),
      control: controlOf(record?.interactionPolicy ?? []),
      files: shown.mediaAttachments.map((media) => shownFile(media, MediaId.make(BigInt(media.id)), true))
    }
    return own
  })

  /** Composition of a reply: mentions everybody in the conversation, and is no more public than its parent. */
  const reply = Effect.fnUntraced(function*(visit: MemberVisit, plain: Composition, id: StatusId) {
    const { account, language, localOnly, mentions, spoilerText, visibility } = yield* status(visit.viewer, id)
    const isPrivate = visit.query.get("private") === "1"
    const people = [account, ...(isPrivate ? [] : mentions)].filter(({ id }) => id !== String(visit.viewer))
    const names = [...new Set(people.map(({ acct }) => `@${acct} `))]
    return {
      ...plain,
      replyTo: id,
      texts: [`${names.join("")}${plain.texts[0] ?? ""}`],
      spoiler: spoilerText,
      language: plain.language === "" ? language ?? "" : plain.language,
      audience: isPrivate
        ? "direct" as const
        : stricter(localOnly === true ? "local" : plain.audience, visibility)
    }
  })

  const asked = Effect.fnUntraced(function*(visit: MemberVisit) {
    const { query, viewer } = visit
    const idIn = (name: string) => statusId(query.get(name))
    const draft = idIn("draft")
    if (draft !== undefined) return { ...(yield* ofDraft(viewer, draft)), at: query.get("at")?.slice(0, 16) ?? "" }
    const edit = idIn("edit")
    if (edit !== undefined) return { ...(yield* ofOwn(viewer, edit)), edit }
    const plain = {
      ...(yield* standard(viewer)),
      texts: [(query.get("text") ?? "").slice(0, sharedCharactersMax)],
      quote: idIn("quote")
    }
    const replyTo = idIn("reply_to")
    return replyTo === undefined ? plain : yield* reply(visit, plain, replyTo)
  })

  /** Files of the composition itself, if it was read from a post; others are uploads. */
  const filesOf: Compositions["Service"]["filesOf"] = Effect.fnUntraced(function*(viewer, { edit, files }) {
    if (files.length === 0) return []
    const attached = edit === undefined
      ? []
      : yield* Effect.orElseSucceed(Effect.map(status(viewer, edit), (shown) => shown.mediaAttachments), () => [])
    const found = yield* Effect.forEach(files, (file) => {
      const known = attached.find(({ id }) => id === String(file.id))
      if (known !== undefined) return Effect.succeed([{ ...shownFile(known, file.id, true), ...file }])
      return attachments.find(viewer, file.id).pipe(
        Effect.map((record) => [{ ...uploadedFile(config, record, file.id), ...file }]),
        Effect.orElseSucceed(() => [])
      )
    })
    return found.flat()
  })

  return Compositions.of({ newKey, standard, asked, ofDraft, ofOwn, filesOf, status })
})
