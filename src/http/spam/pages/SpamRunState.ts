import type { Messages } from "../../../services/languages/Messages.ts"
import type { SpamRun } from "../../../services/spam/SpamRuns.ts"
import type { Html } from "../../html/Html.ts"
import { badge } from "../../staff/pages/parts/Texts.ts"

/** Badge for the state of a dry run. */
export const runState = ({ say }: Messages, { state }: SpamRun): Html =>
  state === "waiting"
    ? badge(say("In progress"), "warn")
    : state === "done"
    ? badge(say("Done"), "good")
    : badge(say("Failed"), "bad")
