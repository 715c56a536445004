import { Context, Effect, Layer } from "effect"
import { hash } from "node:crypto"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { Command } from "../../../actors/account/core/AccountProtocol.ts"
import { type AccountId, StatusId } from "../../../services/database/Ids.ts"
import { Mentions } from "../../../services/federation/Mentions.ts"
import { MediaAttachments } from "../../../services/media/MediaAttachments.ts"
import { type ClientError, Unprocessable } from "../../../services/runtime/Errors.ts"
import { momentInZone } from "../../../services/runtime/Moments.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { DefaultPolicies } from "../../../services/statuses/DefaultPolicies.ts"
import { controlled } from "../../../services/statuses/InteractionPolicy.ts"
import type { Post } from "../../../services/statuses/Post.ts"
import { Statuses } from "../../../services/statuses/Statuses.ts"
import { UnpublishedPosts } from "../../../services/statuses/UnpublishedPosts.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { focusOf } from "../../v1/MediaRoutes.ts"
import { editOf, postOf } from "../../v1/StatusPayloads.ts"
import { read } from "../../wire/Keys.ts"
import { choiceOf, entriesOf } from "../policies/PolicyChoices.ts"
import { type ComposedFile, type Composition, contentKey, controlOf, payloadOf } from "./Composition.ts"
import { quotePolicyOf } from "./Compositions.ts"

/** Result of sending a composition. */
interface Sent {
  readonly kind: "published" | "scheduled" | "edited"
  /** First of the new posts, the scheduled post, or the edited one. */
  readonly id: StatusId
}

/** Commands of the composer. Each may be repeated: equal content of one form is posted once. */
export class ComposedPosts extends Context.Service<ComposedPosts, {
  /** Stores the composition as a draft; returns its id. Files that are still processed are left out. */
  readonly save: (viewer: AccountId, composition: Composition) => Effect.Effect<StatusId, ClientError>
  /**
   * Publishes, schedules or edits. A thread whose post is refused keeps the rest in the draft of `composition`, or in a
   * new one.
   */
  readonly send: (viewer: AccountId, composition: Composition) => Effect.Effect<Sent, ClientError>
  /** Publishes a draft as it is stored, with its thread; `key` makes it idempotent. */
  readonly publishDraft: (
    viewer: AccountId,
    draftId: StatusId,
    posts: number,
    key: string,
    scheduledAt?: number
  ) => Effect.Effect<Sent, ClientError>
}>()("murmuration/http/web/compose/ComposedPosts") {
  static readonly layer = Layer.effect(ComposedPosts, Effect.suspend(() => make)).pipe(Layer.provide(StatusViews.layer))
}

const textOf = ({ description, focus }: ComposedFile) => {
  const point = focusOf(focus)
  return { description, ...(point !== undefined && { focus: point }) }
}

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const attachments = yield* MediaAttachments
  const mentions = yield* Mentions
  const policies = yield* DefaultPolicies
  const statuses = yield* Statuses
  const views = yield* StatusViews
  const { drafts } = yield* UnpublishedPosts

  /** Returns the policy words of a choice; null for the member's defaults, which apply when the post is published. */
  const policyWords = Effect.fnUntraced(function*(viewer: AccountId, { audience, control }: Composition) {
    if (control === undefined || controlled.every((interaction) => control[interaction].audience === "")) return null
    const defaults = (yield* policies.of(viewer))[audience === "local" ? "public" : audience]
    const words = yield* Effect.forEach(controlled, (interaction) => {
      const chosen = control[interaction]
      return entriesOf(interaction, chosen.audience === "" ? choiceOf(defaults, interaction) : chosen)
    })
    return words.flat()
  })

  /** Returns the first post of a composition. */
  const firstPost = Effect.fnUntraced(
    function*(viewer: AccountId, composition: Composition): Effect.fn.Return<Post, ClientError> {
      const post = yield* postOf(payloadOf(composition), undefined)
      return { ...post, interactionPolicy: yield* policyWords(viewer, composition) }
    }
  )

  /** Writes descriptions and focal points of files that no post has yet. */
  const describe = (viewer: AccountId, files: Composition["files"]) =>
    Effect.forEach(
      files,
      (file) => Effect.catchTag(attachments.change(viewer, file.id, textOf(file)), "RecordNotFound", () => Effect.void),
      {
        discard: true
      }
    )

  /** Returns the files that a draft may hold. */
  const ready = (viewer: AccountId, files: Composition["files"]) =>
    Effect.filter(files, ({ id }) =>
      attachments.find(viewer, id).pipe(
        Effect.map(({ state }) => state === "ready"),
        Effect.orElseSucceed(() => false)
      ))

  /** Stores a draft; `key` is that of the command. Fields that only apps know are kept. */
  const store = Effect.fnUntraced(function*(viewer: AccountId, composition: Composition, key: string | undefined) {
    const { draft } = composition
    yield* describe(viewer, composition.files)
    const first = yield* firstPost(viewer, { ...composition, files: yield* ready(viewer, composition.files) })
    const post = { ...first, continued: composition.texts.slice(1) }
    const draftSettings = draft === undefined ? {} : yield* drafts.find(viewer, draft).pipe(
      Effect.map(({ post: { allowedMentions, interactionPolicy } }) => ({
        allowedMentions,
        ...(composition.control === undefined && { interactionPolicy })
      })),
      Effect.orElseSucceed(() => ({}))
    )
    const response = yield* actors.tell(
      viewer,
      { _tag: "SaveDraft", draftId: draft ?? null, post: { ...post, ...draftSettings } },
      key
    )
    return StatusId.make(BigInt(response.id))
  })

  /** Stores a draft, and again as a new one if it was deleted in the meantime. */
  const storeAgain = (viewer: AccountId, composition: Composition, key: string | undefined, newKey: string) =>
    composition.draft === undefined
      ? store(viewer, composition, newKey)
      : Effect.catchTag(
        store(viewer, composition, key),
        "RecordNotFound",
        () => store(viewer, { ...composition, draft: undefined }, newKey)
      )

  const save = traced("ComposedPosts.save")(function*(viewer: AccountId, composition: Composition) {
    const { draft, key } = composition
    const id = yield* storeAgain(viewer, composition, undefined, `${key}-draft-${draft ?? ""}`)
    // The key may be that of an earlier save, whose response was lost. A draft that was published stays deleted.
    if (draft === undefined) {
      yield* Effect.catchTag(
        store(viewer, { ...composition, draft: id }, undefined),
        "RecordNotFound",
        () => Effect.void
      )
    }
    return id
  })

  const publishDraft: ComposedPosts["Service"]["publishDraft"] = traced("ComposedPosts.publishDraft")(
    function*(viewer, draftId, posts, key, scheduledAt) {
      const publish = (place: number) =>
        actors.tell(
          viewer,
          { _tag: "PublishDraft", draftId, applicationId: null, scheduledAt: scheduledAt ?? null },
          `${key}-${place}`
        )
      const first = yield* publish(0)
      for (let place = 1; place < posts; place++) yield* publish(place)
      return {
        kind: first.kind === "scheduled" ? "scheduled" as const : "published" as const,
        id: StatusId.make(BigInt(first.id))
      }
    }
  )

  const edit = Effect.fnUntraced(function*(viewer: AccountId, id: StatusId, composition: Composition) {
    const status = read(yield* views.renderOne(viewer, id))
    const { poll } = status
    const { poll: written, ...payload } = payloadOf(composition)
    const pollBefore = poll === null ? "" : JSON.stringify([poll.options.map(({ title }) => title), poll.multiple])
    const pollAfter = typeof written !== "object" || written === null
      ? ""
      : JSON.stringify([written.options, written.multiple])
    yield* describe(viewer, composition.files)
    const [before] = yield* statuses.load([id])
    const words = yield* policyWords(viewer, composition)
    const currentWords = yield* policyWords(viewer, {
      ...composition,
      control: controlOf(before?.interactionPolicy ?? [])
    })
    const command = yield* editOf(
      id,
      {
        ...payload,
        // An unchanged choice keeps a policy that the form cannot show.
        quoteApprovalPolicy: composition.quotePolicy === quotePolicyOf(status) ? null : composition.quotePolicy,
        ...(pollBefore !== pollAfter && { poll: written ?? "" })
      },
      composition.files.map((file) => ({ id: file.id, ...textOf(file) }))
    )
    const interactionPolicy = String(words) === String(currentWords) ? null : words
    yield* actors.tell(viewer, { ...command, interactionPolicy })
    return { kind: "edited" as const, id }
  })

  const send = traced("ComposedPosts.send")(function*(viewer: AccountId, composition: Composition) {
    const { at, draft, edit: edited, texts, zone } = composition
    for (const text of texts) yield* mentions.introduce(text)
    if (edited !== undefined) return yield* edit(viewer, edited, composition)
    const scheduledAt = at === "" ? undefined : momentInZone(at, zone)
    if (at !== "" && scheduledAt === undefined) return yield* new Unprocessable({ text: "Invalid date supplied" })
    if (scheduledAt !== undefined && texts.length > 1) {
      return yield* new Unprocessable({ text: "A thread cannot be scheduled" })
    }
    const key = `${composition.key}-${hash("sha256", contentKey(composition), "hex").slice(0, 32)}`
    if (draft !== undefined || texts.length > 1) {
      const stored = yield* storeAgain(viewer, composition, `${key}-save`, `${key}-new`)
      return yield* publishDraft(viewer, stored, texts.length, key, scheduledAt)
    }
    yield* describe(viewer, composition.files)
    const post = yield* firstPost(viewer, composition)
    const command: Command = scheduledAt === undefined
      ? { _tag: "Publish", post }
      : { _tag: "Schedule", post, scheduledAt }
    const { id, kind } = yield* actors.tell(viewer, command, key)
    return { kind: kind === "scheduled" ? "scheduled" as const : "published" as const, id: StatusId.make(BigInt(id)) }
  })

  return ComposedPosts.of({ save, send, publishDraft })
})
