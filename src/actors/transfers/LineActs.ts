import { Effect } from "effect"
import { AccountId, StatusId } from "../../services/database/Ids.ts"
import { Filters } from "../../services/filters/Filters.ts"
import { type ClientError, RecordNotFound, type Unavailable } from "../../services/runtime/Errors.ts"
import { ListMembers } from "../../services/social/ListMembers.ts"
import { OwnedLists } from "../../services/social/OwnedLists.ts"
import { Relationships } from "../../services/social/Relationships.ts"
import { Bookmarks } from "../../services/statuses/Bookmarks.ts"
import {
  type FailureReason,
  type ImportOptions,
  type LineDetails,
  linesMax,
  type Removal
} from "../../services/transfers/ImportLine.ts"
import { type ImportLine, ImportLines, type LineImport } from "../../services/transfers/ImportLines.ts"
import { AccountActors } from "../account/core/AccountActors.ts"
import type { Command } from "../account/core/AccountProtocol.ts"
import * as FilterImports from "./FilterImports.ts"

/** Reason why a line failed; undefined for one that is done. */
type LineOutcome = Effect.Effect<FailureReason | undefined, Unavailable>

/** Returns the reason of a refusal; fails if the act should be repeated later. */
const reasonOf = (error: ClientError): LineOutcome => {
  switch (error._tag) {
    case "Unavailable":
      return Effect.fail(error)
    case "RecordNotFound":
    case "Gone":
      return Effect.succeed("not_found")
    case "NotAllowed":
      return Effect.succeed("not_allowed")
    default:
      return Effect.succeed("refused")
  }
}

/**
 * Returns the time that gives a line's favourite or bookmark its place in the list: files have the newest first. It does
 * not depend on the time of the act, as lines of hosts that do not respond are processed later than others.
 */
const millisOf = ({ id }: LineImport, place: number) => Number(id >> 16n) - place % linesMax

/** Returns true for a line of a file that has accounts only. */
const hasNoOptions = ({ languages, notify, showReblogs }: LineDetails) =>
  showReblogs === undefined && notify === undefined && languages === undefined

/**
 * Creates and removes what the lines of an import name, each idempotently. Everything that others see is a command of
 * the account's actor, one at a time, so that other commands run in between.
 */
export const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const bookmarks = yield* Bookmarks
  const filters = yield* Filters
  const writeFilter = yield* FilterImports.make
  const lines = yield* ImportLines
  const lists = yield* OwnedLists
  const members = yield* ListMembers
  const relationships = yield* Relationships

  /** Tells a command once for each line of an import, also if the line is processed again within a day. */
  const tell = ({ accountId, id }: LineImport, place: number, command: Command) =>
    actors.tell(accountId, command, `transfer:${id}:${place}`)

  const follow = (transfer: LineImport, { details, place, subjectId }: ImportLine) =>
    subjectId === undefined ? new RecordNotFound() : tell(transfer, place, {
      _tag: "Follow",
      target: AccountId.make(subjectId),
      reblogs: details.showReblogs ?? null,
      notify: details.notify ?? null,
      languages: details.languages ?? null,
      imported: true
    })

  const listId = Effect.fnUntraced(function*(owner: AccountId, title: string) {
    const found = (yield* lists.of(owner)).find((list) => list.title === title)
    return found?.id ?? (yield* lists.create(owner, { title })).id
  })

  const addToList = Effect.fnUntraced(
    function*(transfer: LineImport, line: ImportLine, { follow: follows }: ImportOptions) {
      const { accountId } = transfer
      const member = AccountId.make(line.subjectId ?? 0n)
      if (follows && member !== accountId) {
        const [relationship] = yield* relationships.of(accountId, [member])
        if (relationship !== undefined && !relationship.following && !relationship.requested) {
          yield* follow(transfer, line)
        }
      }
      if (line.present === true) return
      const list = yield* listId(accountId, line.details.list ?? "")
      yield* members.addAccounts(accountId, list, [member]).pipe(
        // Added in the meantime, or by an attempt whose outcome was lost.
        Effect.catchIf(
          (error) => error._tag === "Unprocessable" && error.text.includes("already on the list"),
          () => Effect.void
        )
      )
    }
  )

  const applied = (
    transfer: LineImport,
    line: ImportLine,
    options: ImportOptions
  ): Effect.Effect<unknown, ClientError> => {
    const { accountId, kind } = transfer
    const { details, name, place, present, subjectId } = line
    if (kind === "domain_blocks") {
      return present === true ? Effect.void : tell(transfer, place, { _tag: "BlockDomain", domain: name })
    }
    if (kind === "filters") return writeFilter(accountId, details.filter, options.overwrite)
    if (subjectId === undefined) return new RecordNotFound()
    const target = AccountId.make(subjectId)
    switch (kind) {
      case "follows":
        return present === true && hasNoOptions(details) ? Effect.void : follow(transfer, line)
      case "lists":
        return addToList(transfer, line, options)
      case "bookmarks":
        return present === true ? Effect.void : bookmarks.add(accountId, subjectId, millisOf(transfer, place))
      case "favourites":
        return present === true
          ? Effect.void
          : tell(transfer, place, {
            _tag: "Favourite",
            statusId: StatusId.make(subjectId),
            imported: true,
            millis: millisOf(transfer, place)
          })
      case "blocks":
        return present === true ? Effect.void : tell(transfer, place, { _tag: "Block", target })
      case "mutes":
        // An existing mute keeps its end and its options.
        return present === true ? Effect.void : tell(transfer, place, {
          _tag: "Mute",
          target,
          notifications: details.hideNotifications ?? true,
          seconds: 0
        })
    }
  }

  const removed = (
    transfer: LineImport,
    { id, list, name, subjectId }: Removal
  ): Effect.Effect<unknown, ClientError> => {
    const { accountId, kind } = transfer
    const target = AccountId.make(subjectId ?? 0n)
    switch (kind) {
      case "follows":
        return actors.tell(accountId, { _tag: "Unfollow", target })
      case "blocks":
        return actors.tell(accountId, { _tag: "Unblock", target })
      case "mutes":
        return actors.tell(accountId, { _tag: "Unmute", target })
      case "domain_blocks":
        return actors.tell(accountId, { _tag: "UnblockDomain", domain: name })
      case "bookmarks":
        return bookmarks.remove(accountId, target)
      case "favourites":
        return actors.tell(accountId, { _tag: "Unfavourite", statusId: StatusId.make(subjectId ?? 0n) })
      case "lists":
        return Effect.flatMap(lists.of(accountId), (all) => {
          const found = all.find(({ title }) => title === list)
          return found === undefined ? Effect.void : members.removeAccounts(accountId, found.id, [target])
        })
      case "filters":
        return filters.remove(accountId, id)
    }
  }

  return {
    apply: (transfer: LineImport, line: ImportLine, options: ImportOptions): LineOutcome =>
      applied(transfer, line, options).pipe(Effect.as(undefined), Effect.catch(reasonOf)),
    /** Removes a relation; one that is gone already is no failure. */
    remove: (transfer: LineImport, removal: Removal): LineOutcome =>
      removed(transfer, removal).pipe(Effect.as(undefined), Effect.catch(reasonOf)),
    /** Removes lists that the file lacks and that are empty now; for other kinds, does nothing. */
    removeEmptyLists: Effect.fnUntraced(function*(transfer: LineImport) {
      if (transfer.kind !== "lists") return
      for (const id of yield* lines.unnamedLists(transfer)) {
        yield* Effect.catchTag(lists.remove(transfer.accountId, id), "RecordNotFound", () => Effect.void)
      }
    })
  }
})
