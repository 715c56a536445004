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
  say("You received this email from {server} because someone entered your address there.", { server })

/** E-mail about a new appeal to staff who decide appeals. */
export const filed = ({ server, text, to, username: name }: About & { readonly text: string }) =>
({
  say
}: Messages): Email => ({
  to,
  subject: `${say("{name} appealed a moderation decision", { name })} (${server})`,
  text: [
    `${say("{name} appealed a decision by a moderator of {server}, and wrote:", { name, server })}\n${text}`,
    footer(say, server)
  ].join("\n\n")
})

/** E-mail about the decision to the user who appealed. */
export const decided = ({ granted, server, to, username: name }: About & { readonly granted: boolean }) =>
({
  say
}: Messages): Email => ({
  to,
  subject: `${granted ? say("Your appeal was approved") : say("Your appeal was rejected")} (${server})`,
  text: [
    granted
      ? say("A moderator of {server} approved your appeal and reversed the decision about your account {name}.", {
        name,
        server
      })
      : say("A moderator of {server} rejected your appeal. The decision about your account {name} stays in place.", {
        name,
        server
      }),
    footer(say, server)
  ].join("\n\n")
})
