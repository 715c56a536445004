import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../services/database/Ids.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { AgendaEntries } from "../../../services/intents/AgendaEntries.ts"
import { AttachmentWriter } from "../../../services/media/AttachmentWriter.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { Drafts } from "../../../services/statuses/Drafts.ts"
import { Polls } from "../../../services/statuses/Polls.ts"
import { type NewPoll, withDefaults } from "../../../services/statuses/Post.ts"
import { StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import { StatusWriter } from "../../../services/statuses/StatusWriter.ts"
import { written } from "../../../services/statuses/Written.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import { nextMillis, type Ownership } from "../core/Ownership.ts"
import { type Commands, onRefused, onStatus } from "../core/Verbs.ts"
import * as Controlling from "./Controlling.ts"
import * as Linking from "./Linking.ts"
import { checkDraft, disallowedIn, isSame, isSameText, textsToStore } from "./PostTexts.ts"
import * as Quoting from "./Quoting.ts"
import * as Screening from "./Screening.ts"

/** Edits and deletes statuses, inside the transaction of a command. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const disallowedTags = disallowedIn(sql)
  const drafts = yield* Drafts
  const attachments = yield* AttachmentWriter
  const agenda = yield* AgendaEntries
  const polls = yield* Polls
  const statusWriter = yield* StatusWriter
  const statusTargets = yield* StatusTargets
  const intend = yield* IntentWriter.make
  const notificationWriter = yield* NotificationWriter
  const linking = yield* Linking.make
  const quoting = yield* Quoting.make
  const control = yield* Controlling.make
  const screening = yield* Screening.make

  /** Replaces an edited status's poll, which ends that long after the edit. */
  const ask = Effect.fnUntraced(
    function*(accountId: AccountId, statusId: bigint, poll: NewPoll | null, millis: number) {
      const endsAt = yield* polls.revise(statusId, poll, millis)
      if (endsAt === undefined) yield* agenda.cancel("poll_end", statusId)
      else yield* agenda.enqueue("poll_end", statusId, accountId, endsAt)
    }
  )

  const verbs = {
    Edit: Effect.fnUntraced(function*(own: Ownership, command: Commands["Edit"]) {
      const { accountId } = own
      const old = yield* statusTargets.own(accountId, command.statusId)
      if (old.reblogOfId !== null) return yield* new RecordNotFound()
      if (old.visibility === "direct") yield* control.refuseIfHeld(old.id)
      const mediaIds = command.mediaIds === undefined ? old.mediaIds : [...new Set(command.mediaIds)]
      // An edit without a content warning removes the old one.
      const filled = withDefaults(command, { ...written(old), spoilerText: "" })
      const { text, ...texts } = yield* textsToStore(
        { ...filled, text: command.text },
        mediaIds.length > 0 || (yield* quoting.isQuoting(old.id, command))
      )
      const contentType = command.contentType ?? old.contentType
      const draft = yield* drafts.compose(text, contentType)
      yield* checkDraft(draft, texts, yield* disallowedTags(draft))
      const { html, mentionIds } = draft
      const isNew = !isSameText(old, { ...texts, html })
      const edited = { ...texts, html, mentionIds, domain: null }
      if (isNew && !(yield* screening.edits(own, old.id, edited))) return onRefused(old.id)
      if (command.mediaIds !== undefined) yield* attachments.check(accountId, mediaIds, command.statusId)
      const row = {
        ...written(filled),
        ...texts,
        text,
        contentType,
        html,
        sensitive: filled.sensitive || texts.spoilerText !== "",
        mediaIds
      }
      const same = isSame(old, row)
      const described = command.media ?? []
      const { poll } = command
      if (poll) yield* polls.check(poll)
      const asks = poll !== undefined && (yield* polls.differs(command.statusId, poll))
      const millis = yield* nextMillis(own)
      const governed = yield* quoting.govern(own, old, command)
      if (same && !asks && !(yield* attachments.differ(command.statusId, described))) {
        if (poll !== undefined) yield* ask(accountId, command.statusId, poll, millis)
        if (governed) yield* quoting.governed(own, command.statusId)
        return onStatus(command.statusId)
      }
      yield* statusWriter.preserve(command.statusId, millis)
      yield* attachments.attach(mediaIds, { statusId: command.statusId })
      yield* attachments.revise(command.statusId, described)
      if (poll !== undefined) yield* ask(accountId, command.statusId, poll, millis)
      yield* statusWriter.revise(command.statusId, accountId, { millis, row, draft })
      yield* linking.replace(command.statusId, linking.ofDraft(draft, mediaIds.length > 0))
      yield* intend(own, { _tag: "edit", statusId: command.statusId, editedAt: millis })
      return onStatus(command.statusId)
    }),
    Delete: Effect.fnUntraced(function*(own: Ownership, { deleteMedia = false, statusId }: Commands["Delete"]) {
      const { accountId } = own
      const { visibility } = yield* statusTargets.own(accountId, statusId)
      if (visibility === "direct") yield* control.forget(accountId, statusId)
      yield* statusWriter.remove(statusId, accountId, yield* nextMillis(own))
      yield* attachments.detach(statusId, !deleteMedia)
      yield* agenda.cancel("poll_end", statusId)
      yield* notificationWriter.retract([statusId])
      yield* intend(own, { _tag: "delete", statusId: statusId })
      return onStatus(statusId)
    })
  }

  return { verbs }
})

export type Editing = Effect.Success<typeof make>
