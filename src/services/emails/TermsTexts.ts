import type { Messages } from "../languages/Messages.ts"
import type { Email } from "./Mailer.ts"

/** New terms of service and the notice about them. */
interface About {
  readonly to: string
  /** Domain of the server. */
  readonly server: string
  /** Date from which the terms apply, such as `2026-01-31`. */
  readonly day: string
  readonly notice: string
  /** URL of the terms. */
  readonly address: string
}

/** Tells a user about new terms of service. */
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
