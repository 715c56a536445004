import type { Messages } from "../languages/Messages.ts"
import type { Email } from "./Mailer.ts"

/** New terms, and what is said about them. */
interface About {
  readonly to: string
  /** The server, by its domain. */
  readonly server: string
  /** From which day they hold, as `2026-01-31`. */
  readonly day: string
  readonly notice: string
  /** Where they are read. */
  readonly address: string
}

/** To everybody who has an account. */
export const newTerms = ({ address, day, notice, server, to }: About) => ({ say }: Messages): Email => ({
  to,
  subject: `${say("New terms of service")} (${server})`,
  text: [
    say("The terms of service of {server} are changing. The new terms take effect on {day}.", { server, day }),
    ...(notice === "" ? [] : [notice]),
    say("Read them: {address}", { address }),
    say("You received this email from {server} because someone entered your address there.", { server })
  ].join("\n\n")
})
