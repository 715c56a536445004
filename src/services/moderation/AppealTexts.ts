import type { Email } from "../emails/Mailer.ts"
import type { Messages } from "../languages/Messages.ts"

interface About {
  readonly to: string
  /** Domain of the server. */
  readonly server: string
  /** User who appeals. */
  readonly username: string
}

const footer = (say: Messages["say"], server: string) =>
  say("This letter was sent by {server}, because somebody gave your address there.", { server })

/** E-mail about a new appeal to staff who decide appeals. */
export const filed = ({ server, text, to, username: name }: About & { readonly text: string }) =>
({
  say
}: Messages): Email => ({
  to,
  subject: `${say("{name} appeals against a decision", { name })} (${server})`,
  text: [
    `${say("{name} appeals against what a moderator of {server} decided, and writes:", { name, server })}\n${text}`,
    footer(say, server)
  ].join("\n\n")
})

/** E-mail about the decision to the user who appealed. */
export const decided = ({ granted, server, to, username: name }: About & { readonly granted: boolean }) =>
({
  say
}: Messages): Email => ({
  to,
  subject: `${granted ? say("Your appeal was granted") : say("Your appeal was refused")} (${server})`,
  text: [
    granted
      ? say("A moderator of {server} looked at your appeal and took back what was decided about your account {name}.", {
        name,
        server
      })
      : say("A moderator of {server} looked at your appeal. What was decided about your account {name} stands.", {
        name,
        server
      }),
    footer(say, server)
  ].join("\n\n")
})
