import type { Command } from "../../../src/actors/account/core/AccountProtocol.ts"
import { StatusId } from "../../../src/services/database/Ids.ts"
import { inputOf } from "../../../src/services/statuses/Post.ts"
import type { Dice } from "../Seeded.ts"
import type { User } from "./Clients.ts"

/** Confirmed command, with the id in its response. */
interface Done {
  readonly n: number
  readonly command: Command
  readonly id: string
}

/**
 * Share of posts that are changed at once, share of undone actions that are repeated at once, and accounts that an edit
 * may mention.
 */
interface Tendencies {
  readonly changes: number
  readonly repeatShare: number
  readonly others: ReadonlyArray<User>
}

interface FollowUp {
  readonly command: Command
  readonly mentions: ReadonlyArray<User>
}

/** Share of edits that mention an account. */
const mentioningShare = 0.4

/**
 * Draws the next command of a client that changes its mind before servers have received the last one: a changed or
 * deleted post, or a repeated follow, favourite or boost after it was undone. Returns undefined for most commands.
 */
export const draw = (
  dice: Dice,
  { changes, repeatShare, others }: Tendencies,
  { command, id, n }: Done
): FollowUp | undefined => {
  const again = (repeated: Command): FollowUp | undefined =>
    dice.chance(repeatShare) ? { command: repeated, mentions: [] } : undefined
  switch (command._tag) {
    case "Publish": {
      if (!dice.chance(0.3 * changes)) return undefined
      const statusId = StatusId.make(BigInt(id))
      if (!dice.chance(0.7)) return { command: { _tag: "Delete", statusId }, mentions: [] }
      const mentions = dice.chance(mentioningShare) ? [dice.pick(others)] : []
      const text = [`post-${n}. edited`, ...mentions.map(({ handle }) => `@${handle}`)].join(" ")
      return { command: { _tag: "Edit", statusId, text, ...inputOf({}) }, mentions }
    }
    case "Unfollow":
      return again({ _tag: "Follow", target: command.target, reblogs: null, notify: null, languages: null })
    case "Unfavourite":
      return again({ _tag: "Favourite", statusId: command.statusId })
    case "Unreblog":
      return again({ _tag: "Reblog", statusId: command.statusId, visibility: null })
    default:
      return undefined
  }
}
