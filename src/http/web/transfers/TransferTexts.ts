import type { Messages } from "../../../services/languages/Messages.ts"
import type { FailureReason } from "../../../services/transfers/ImportLine.ts"
import type { ExportKind } from "../../../services/transfers/ListExports.ts"
import type { TransferState } from "../../../services/transfers/Transfer.ts"

/** Names of the lists that can be taken out and brought in. */
export const kindNames = ({ say }: Messages): Readonly<Record<ExportKind, string>> => ({
  follows: say("Follows"),
  followers: say("Followers"),
  lists: say("Lists"),
  blocks: say("Blocked accounts"),
  mutes: say("Muted accounts"),
  ["domain_blocks"]: say("Blocked servers"),
  bookmarks: say("Bookmarks"),
  favourites: say("Favourites"),
  filters: say("Filters")
})

/** Names of the states of a transfer. */
export const stateNames = ({ say }: Messages): Readonly<Record<TransferState, string>> => ({
  unconfirmed: say("Not confirmed yet"),
  scheduled: say("Waiting to start"),
  ["in_progress"]: say("In progress"),
  finished: say("Finished"),
  failed: say("Failed"),
  cancelled: say("Cancelled")
})

/** Reasons why a line of a file was not imported. */
export const reasonTexts = ({ say }: Messages): Readonly<Record<FailureReason, string>> => ({
  invalid: say("Not a valid address"),
  ["not_found"]: say("Not found"),
  unreachable: say("The server did not respond"),
  ["not_allowed"]: say("Not possible: blocked, moved away, or your own account"),
  refused: say("Refused, for example because a limit is reached")
})
