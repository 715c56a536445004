import { Clock, Context, Effect, Layer } from "effect"
import * as Cache from "../../services/caching/Cache.ts"
import { Changes } from "../../services/caching/Changes.ts"
import { RecordNotFound } from "../../services/Errors.ts"
import type { AccountId } from "../../services/Ids.ts"
import { CustomEmojis } from "../../services/instance/CustomEmojis.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { renderedRows } from "../../services/RenderedRows.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import type { Hiding } from "../../services/statuses/ViewerState.ts"
import { ViewerStates } from "../../services/statuses/ViewerStates.ts"
import { isOpen } from "../../services/statuses/Visibility.ts"
import { traced } from "../../services/Traced.ts"
import type { Viewer } from "../../services/Viewer.ts"
import type { Ready } from "../wire/Keys.ts"
import type { DeletedStatus, Status } from "../wire/Status.ts"
import { forRedraft, withoutText } from "../wire/StatusJson.ts"
import { AccountViews } from "./AccountViews.ts"
import { authorsOf, bytesOf, compose, nobodys, ready, type ReadyStatus, sourceOf } from "./StatusBodies.ts"
import * as ViewerStateCache from "./ViewerStateCache.ts"

/** Bytes of statuses' bodies that are kept, two for each character. */
const statusCacheBytesMax = 32 * 1024 * 1024

/**
 * Statuses as clients see them, as ready JSON. A page of any length takes NO query where all parts are cached, and at most
 * five: who may see what, counters and marks (see `ViewerStates`), the bodies that are not cached, the originals of cached
 * reblogs that are not, their accounts, and this server's emoji; one more for each of bodies, originals and accounts where
 * texts of other servers name emoji.
 */
export class StatusViews extends Context.Service<StatusViews, {
  /**
   * In the order of `ids`. Left out are statuses that the viewer may not see and, with `hiding` "authors" (the default is
   * "nothing"), those of authors that it blocks or mutes. For "permitted" see `Hiding`.
   */
  readonly render: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    hiding?: Hiding
  ) => Effect.Effect<ReadonlyArray<Ready<Status>>>
  /** The same by id. */
  readonly byId: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    hiding?: Hiding
  ) => Effect.Effect<ReadonlyMap<bigint, Ready<Status>>>
  /**
   * The same for ids that a client names. Which of them do not exist and which must not be seen takes the same queries, so
   * that no clock tells it (security row 57).
   */
  readonly renderNamed: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>,
    hiding?: Hiding
  ) => Effect.Effect<ReadonlyArray<Ready<Status>>>
  readonly renderOne: (viewer: Viewer, id: bigint) => Effect.Effect<Ready<Status>, RecordNotFound>
  /**
   * One status for everybody about to get it; who may not see it or hides its author is absent. As many queries as a page,
   * and one string for all who see the same.
   */
  readonly renderFor: (
    id: bigint,
    viewers: ReadonlyArray<AccountId>
  ) => Effect.Effect<ReadonlyMap<AccountId, Ready<Status>>>
  /**
   * The status on which somebody has just undone a mark of its own, which works although its author blocks it by now
   * (S-127). What the viewer may not read any more comes without its text.
   */
  readonly renderUndone: (viewer: AccountId, id: bigint) => Effect.Effect<Ready<Status>, RecordNotFound>
  /** The answer to deleting an own status, made before it is deleted: its text as written in place of the HTML (S-060). */
  readonly renderForRedraft: (owner: AccountId, id: bigint) => Effect.Effect<Ready<DeletedStatus>, RecordNotFound>
}>()("murmuration/http/render/StatusViews") {
  static readonly layerNoDeps = Layer.effect(
    StatusViews,
    Effect.gen(function*() {
      const statuses = yield* Statuses
      const viewerStates = yield* ViewerStates
      const accounts = yield* AccountViews
      const emojis = yield* CustomEmojis
      const config = yield* ServerConfig
      // Staff marks all that an account posts as sensitive, and domains lose their files.
      const cache = yield* Cache.make<bigint, ReadyStatus>({
        rows: ({ card, key }, id) => [
          ["status", id],
          ["moderation", key.accountId],
          ...(card === undefined ? [] : [["card", card.id] as const]),
          ...(card?.creatorId === undefined ? [] : [["account", card.creatorId] as const])
        ],
        kinds: ["domains", "emojis"],
        max: { bytes: statusCacheBytesMax, bytesOf }
      })
      const kept = yield* ViewerStateCache.make(viewerStates)

      const load = Effect.fnUntraced(function*(missing: ReadonlyArray<bigint>) {
        const records = new Map((yield* statuses.load(missing)).map((record) => [record.id, record]))
        const named = yield* emojis.finderOf(Array.from(records.values(), sourceOf))
        const now = yield* Clock.currentTimeMillis
        return new Map(
          yield* renderedRows("status", records.values(), ({ id }) => id, (record) => {
            const original = record.reblogOfId === null ? undefined : records.get(record.reblogOfId)
            if (record.reblogOfId !== null && original === undefined) return undefined
            return [record.id, ready(config, record, original, named, now)] as const
          })
        )
      })

      /** The statuses and, for reblogs, their originals. */
      const bodies = Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>, loading: typeof load = load) {
        const found = yield* cache.getAll(ids, loading)
        const originals = ids.flatMap((id) => found.get(id)?.key.original?.id ?? []).filter((id) => !found.has(id))
        return originals.length === 0 ? found : new Map([...found, ...yield* cache.getAll(originals, load)])
      })

      /** Those of `ids` that the viewer is shown, of the bodies that were found. */
      const show = Effect.fnUntraced(function*(
        viewer: Viewer,
        ids: ReadonlyArray<bigint>,
        hiding: Hiding,
        found: ReadonlyMap<bigint, ReadyStatus>
      ) {
        const keys = ids.flatMap((id) => found.get(id)?.key ?? [])
        const shown = yield* kept.of(viewer, keys, hiding)
        const names = yield* accounts.byId(authorsOf(keys.filter(({ id }) => shown.has(id)), found))
        const texts = new Map<bigint, Ready<Status>>()
        for (const key of keys) {
          const state = shown.get(key.id)
          const text = state === undefined ? undefined : compose(viewer, key, state, found, names)
          if (text !== undefined) texts.set(key.id, text)
        }
        return texts
      })

      const byId = traced("StatusViews.byId")(function*(
        viewer: Viewer,
        ids: ReadonlyArray<bigint>,
        hiding: Hiding = "nothing"
      ) {
        return yield* show(viewer, ids, hiding, yield* bodies(ids))
      })

      const renderNamed = traced("StatusViews.renderNamed")(function*(
        viewer: Viewer,
        ids: ReadonlyArray<bigint>,
        hiding: Hiding = "nothing"
      ) {
        const asked = new Set<bigint>()
        const found = yield* bodies(ids, (missing) => {
          for (const id of missing) asked.add(id)
          return load(missing)
        })
        const texts = yield* show(viewer, ids, hiding, found)
        const refused = ids.filter((id) => !texts.has(id))
        const known = refused.filter((id) => !asked.has(id))
        if (known.length > 0) yield* statuses.load(known)
        const unknown = refused.filter((id) => !found.has(id))
        if (unknown.length > 0) yield* viewerStates.of(viewer, unknown.map(nobodys), hiding)
        return ids.flatMap((id) => texts.get(id) ?? [])
      })

      const render = traced("StatusViews.render")(function*(
        viewer: Viewer,
        ids: ReadonlyArray<bigint>,
        hiding: Hiding = "nothing"
      ) {
        const texts = yield* byId(viewer, ids, hiding)
        return ids.flatMap((id) => texts.get(id) ?? [])
      })

      const renderOne = traced("StatusViews.renderOne")(function*(viewer: Viewer, id: bigint) {
        const [text] = yield* renderNamed(viewer, [id])
        return text ?? (yield* new RecordNotFound())
      })

      const renderUndone = traced("StatusViews.renderUndone")(function*(viewer: AccountId, id: bigint) {
        const found = yield* bodies([id])
        const key = found.get(id)?.key
        if (key === undefined) return yield* new RecordNotFound()
        const { state, visible } = yield* viewerStates.ofMarked(viewer, key)
        const names = yield* accounts.byId(authorsOf([key], found))
        const open = visible || isOpen((key.original ?? key).visibility)
        const shown = open
          ? found
          : new Map(
            Array.from(
              found,
              ([id, status]) => [id, { ...status, body: withoutText(status.body), poll: undefined, card: undefined }]
            )
          )
        return compose(viewer, key, state, shown, names) ?? (yield* new RecordNotFound())
      })

      const renderForRedraft = traced("StatusViews.renderForRedraft")(function*(owner: AccountId, id: bigint) {
        const { text } = yield* statuses.source(owner, id)
        const shown = yield* renderOne(owner, id)
        const original = (yield* bodies([id])).get(id)?.key.original
        const repeated = original === undefined ? "" : (yield* statuses.source(owner, original.id)).text
        return forRedraft(shown, text, repeated)
      })

      const renderFor = traced("StatusViews.renderFor")(function*(id: bigint, viewers: ReadonlyArray<AccountId>) {
        const texts = new Map<AccountId, Ready<Status>>()
        const found = yield* bodies([id])
        const key = found.get(id)?.key
        if (key === undefined) return texts
        const shown = yield* viewerStates.forViewers(viewers, key)
        const names = yield* accounts.byId(authorsOf([key], found))
        const alike = new Map<string, Ready<Status> | undefined>()
        const creator = found.get((key.original ?? key).id)?.card?.creatorId
        for (const [viewer, state] of shown) {
          const { bookmarked, favourited, muted, pinned, reblogged, votes } = state
          const own = viewer === key.accountId || viewer === key.original?.accountId || viewer === creator
          const view = own
            ? String(viewer)
            : `${bookmarked},${favourited},${muted},${pinned},${reblogged},${votes.join()}`
          if (!alike.has(view)) alike.set(view, compose(viewer, key, state, found, names))
          const text = alike.get(view)
          if (text !== undefined) texts.set(viewer, text)
        }
        return texts
      })

      return StatusViews.of({
        byId,
        render,
        renderNamed,
        renderOne,
        renderFor,
        renderUndone,
        renderForRedraft
      })
    })
  ).pipe(Layer.provide(Changes.layer))
  static readonly layer = StatusViews.layerNoDeps.pipe(Layer.provide(AccountViews.layer))
}
