import type { Messages } from "../languages/Messages.ts"
import type { Email } from "./Mailer.ts"

/** Returns the headers of the link with which mail programs unsubscribe by one click (RFC 8058). */
export const oneClickHeaders = (link: string): Readonly<Record<string, string>> => ({
  "List-Unsubscribe": `<${link}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"
})

/** Adds an unsubscribe link to an e-mail: in its text, and in its headers. */
export const withUnsubscribe = (email: Email, { say }: Messages, link: string): Email => ({
  ...email,
  text: `${email.text}\n\n${say("To stop these emails, open this link: {link}", { link })}`,
  headers: { ...email.headers, ...oneClickHeaders(link) }
})
