import { plainText } from "../html/PlainText.ts"
import type { Messages } from "../languages/Messages.ts"
import { notificationTitle } from "../notifications/NotificationTitles.ts"
import type { NotificationType } from "../notifications/NotificationTypes.ts"
import { bounded } from "../text/BoundedText.ts"

/** Maximum characters of a message's body (operations.md section 11), and maximum bytes of body and name in JSON. */
const bodyCharactersMax = 140
const bodyBytesMax = 1_600
const nameCharactersMax = 80
const nameBytesMax = 600
/** Maximum bytes of a picture's URL. */
const iconBytesMax = 800

const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" })

/** Cuts a text to a number of characters and bytes, never within a grapheme cluster. */
const truncate = (text: string, charactersMax: number, bytesMax: number): string => {
  const whole = text.slice(0, charactersMax * 20).replace(/\s+/g, " ").trim().toWellFormed()
  const characters: Array<string> = []
  let bytes = 0
  for (const { segment } of segmenter.segment(whole)) {
    bytes += bytesOf(segment)
    // The ellipsis takes the place of the last character.
    if (characters.length === charactersMax || bytes > bytesMax) return `${characters.slice(0, -1).join("").trimEnd()}…`
    characters.push(segment)
  }
  return characters.join("")
}

/** Fields of a message, in plain text. */
interface PushFacts {
  readonly token: string
  readonly locale: string
  readonly notificationId: bigint
  readonly type: NotificationType
  readonly name: string
  readonly icon: string
  /** HTML or plain text of the notification's subject. */
  readonly html: string
}

/**
 * Returns the JSON of a message as apps know it (operations.md section 11). It has at most 3,500 bytes: push services
 * accept 4,096 after encryption. The id is a number with all its digits, as in Mastodon.
 */
export const pushText = (words: Messages, facts: PushFacts): string => {
  const { html, icon, locale, name, notificationId, token, type } = facts
  const fields = JSON.stringify({
    "access_token": token,
    "preferred_locale": locale,
    "notification_type": type,
    icon: Buffer.byteLength(icon) <= iconBytesMax ? icon : "",
    title: notificationTitle(words, type, truncate(name, nameCharactersMax, nameBytesMax)),
    body: truncate(plainText(bounded(html)), bodyCharactersMax, bodyBytesMax)
  })
  return `{"notification_id":${notificationId},${fields.slice(1)}`
}
