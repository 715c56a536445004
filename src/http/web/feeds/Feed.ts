import { sanitise } from "../../../services/html/Sanitise.ts"
import type { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import * as Urls from "../../../services/instance/Urls.ts"
import { servedTypes } from "../../../services/media/FileTypes.ts"
import { bounded } from "../../../services/text/BoundedText.ts"
import { html } from "../../html/Html.ts"
import { lineOfStatus, plainName, type ShownStatus } from "../status/StatusText.ts"

interface Enclosure {
  readonly url: string
  readonly type: string
  readonly title: string
}

interface Item {
  readonly id: string
  readonly url: string
  readonly title: string
  /** Sanitised HTML; the warning alone if the post has one. */
  readonly content: string
  readonly published: Date
  readonly modified: Date
  readonly author: { readonly name: string; readonly url: string; readonly avatar: string }
  readonly tags: ReadonlyArray<string>
  readonly files: ReadonlyArray<Enclosure>
}

/** A page of a feed; all URLs are absolute. */
export interface Feed {
  readonly title: string
  readonly description: string
  /** URL of the page for people. */
  readonly home: string
  /** URL of this page of the feed. */
  readonly self: string
  /** URL of the page with older posts (RFC 5005). */
  readonly next: string | undefined
  readonly icon: string | undefined
  /** Time of the newest change on the page. */
  readonly updated: Date
  readonly items: ReadonlyArray<Item>
}

/** Maximum characters of an item's title. */
const titleCharactersMax = 80

/** Returns the public posts of a page as items; a post behind a warning shows neither its text nor its files. */
export const itemsOf = (
  config: ServerConfig["Service"],
  statuses: ReadonlyArray<ShownStatus>
): ReadonlyArray<Item> =>
  statuses.flatMap((status) => {
    const { account, content, createdAt, editedAt, mediaAttachments, sensitive, spoilerText, tags, uri, url } = status
    if (status.visibility !== "public" || status.reblog !== null) return []
    const name = plainName(account)
    const isHidden = spoilerText !== "" || sensitive
    return [{
      id: uri,
      url: url ?? uri,
      title: lineOfStatus(status, titleCharactersMax) || name,
      content: spoilerText === "" ? sanitise(bounded(content)) : String(html`<p>${spoilerText}</p>`),
      published: new Date(createdAt),
      modified: new Date(editedAt ?? createdAt),
      author: {
        name,
        url: account.acct.includes("@") ? account.url : Urls.profile(config, account.username),
        avatar: account.avatarStatic
      },
      tags: tags.map((tag) => tag.name),
      files: isHidden ? [] : mediaAttachments.flatMap(({ description, url }) =>
        url === null ? [] : [{
          url,
          type: servedTypes[/\.(\w+)$/.exec(url)?.[1] ?? ""] ?? "application/octet-stream",
          title: description ?? ""
        }]
      )
    }]
  })

/** Returns the time of the newest change among items; 1970 without items. */
export const updatedOf = (items: ReadonlyArray<Item>): Date =>
  new Date(items.reduce((newest, { modified }) => Math.max(newest, modified.getTime()), 0))
