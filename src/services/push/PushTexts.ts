import { plainText } from "../html/PlainText.ts"
import type { Messages } from "../languages/Messages.ts"
import { notificationTitle } from "../NotificationTitles.ts"
import type { NotificationType } from "../NotificationTypes.ts"
import { bounded } from "../text/BoundedText.ts"

/** Characters of what a message tells (operations.md section 11), and bytes of it and of a name as JSON has them. */
const bodyCharactersMax = 140
const bodyBytesMax = 1_600
const nameCharactersMax = 80
const nameBytesMax = 600
/** Bytes of the address of a picture. */
const iconBytesMax = 800

const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" })

/** Cut after so many characters and bytes, never within what people see as one character. */
const cut = (text: string, charactersMax: number, bytesMax: number): string => {
  const whole = text.slice(0, charactersMax * 20).replace(/\s+/g, " ").trim().toWellFormed()
  const kept: Array<string> = []
  let bytes = 0
  for (const { segment } of segmenter.segment(whole)) {
    bytes += bytesOf(segment)
    // The mark takes the room of the last one.
    if (kept.length === charactersMax || bytes > bytesMax) return `${kept.slice(0, -1).join("").trimEnd()}…`
    kept.push(segment)
  }
  return kept.join("")
}

/** What a message is made of. Texts are plain. */
interface PushFacts {
  readonly token: string
  readonly locale: string
  readonly notificationId: bigint
  readonly type: NotificationType
  readonly name: string
  readonly icon: string
  /** HTML or plain text of what it is about. */
  readonly html: string
}

/**
 * The text of a message as apps know it (operations.md section 11), as JSON of 3,500 bytes at most, whatever is in it: push
 * services take 4,096 when it is encrypted. The id is a number with all of its digits, as at Mastodon.
 */
export const pushText = (words: Messages, facts: PushFacts): string => {
  const { html, icon, locale, name, notificationId, token, type } = facts
  const fields = JSON.stringify({
    "access_token": token,
    "preferred_locale": locale,
    "notification_type": type,
    icon: Buffer.byteLength(icon) <= iconBytesMax ? icon : "",
    title: notificationTitle(words, type, cut(name, nameCharactersMax, nameBytesMax)),
    body: cut(plainText(bounded(html)), bodyCharactersMax, bodyBytesMax)
  })
  return `{"notification_id":${notificationId},${fields.slice(1)}`
}
