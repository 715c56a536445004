import { Effect, Layer } from "effect"
import { EmojiCopies } from "../../../services/media/EmojiCopies.ts"
import { type EmojiRecord, EmojiRecords } from "../../../services/media/EmojiRecords.ts"
import { Emojis } from "../../../services/media/Emojis.ts"
import type { MediaRefused } from "../../../services/media/MediaTools.ts"
import { RecordNotFound, Unavailable, validationFailed } from "../../../services/runtime/Errors.ts"
import { html } from "../../html/Html.ts"
import { button, textField } from "./parts/Controls.ts"
import { eachChosen } from "./parts/Each.ts"
import { bulk, emptyList, filters, filterText, pageOf, pager, rowCheckbox, table, tabs, total } from "./parts/Tables.ts"
import { badge } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Act, Visit } from "./StaffVisit.ts"

const path = "/admin/custom_emojis"

const make = Effect.gen(function*() {
  const copies = yield* EmojiCopies
  const emojis = yield* Emojis
  const records = yield* EmojiRecords
  const staff = yield* StaffPages

  const isRemote = ({ query }: Visit) => query.get("origin") === "remote"

  const rowOf = ({ words: { say } }: Visit, emoji: EmojiRecord) => [
    rowCheckbox(emoji.id, say("Select {name}", { name: emoji.shortcode })),
    html`<img src="${emoji.staticUrl}" alt="" width="32" height="32" loading="lazy"> <code>:${emoji.shortcode}:</code>`,
    emoji.domain === null ? html`<bdi>${emoji.category ?? ""}</bdi>` : emoji.domain,
    html`${emoji.disabled ? badge(say("Disabled"), "bad") : ""}${
      emoji.visibleInPicker ? "" : html` ${badge(say("Not in picker"))}`
    }`
  ]

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { query, words: { say } } = visit
    const remote = isRemote(visit)
    const emojiQuery = {
      domain: query.get("domain")?.trim() || undefined,
      shortcode: query.get("shortcode")?.trim().replaceAll(":", "") || undefined
    }
    const found = yield* records.list({ ...emojiQuery, remote }, pageOf(visit))
    const [own, others] = yield* Effect.all([
      records.total({ ...emojiQuery, domain: undefined, remote: false }),
      records.total({ ...emojiQuery, remote: true })
    ])
    return {
      title: say("Custom emoji"),
      body: html`<p class="row"><a href="${path}/new">${say("New emoji")}</a> <a href="${path}/archive">${
        say("Import and export")
      }</a></p>${tabs(visit, "origin", [["", say("This server"), own], ["remote", say("Other servers"), others]])}${
        filters(
          visit,
          html`${filterText(visit, "shortcode", say("Shortcode"))}${
            remote ? filterText(visit, "domain", say("Server")) : ""
          }`,
          "origin"
        )
      }${total(visit, remote ? others : own)}${
        found.length === 0 ? emptyList(say("No emoji match.")) : bulk(
          visit,
          table(
            [say("Selected"), say("Emoji"), remote ? say("Server") : say("Category"), say("State")],
            found.map((emoji) => rowOf(visit, emoji)),
            say("Custom emoji")
          ),
          remote
            ? html`${button("copy", say("Copy to this server"))}`
            : html`${button("enable", say("Enable"))}${button("disable", say("Disable"))}${
              button("list", say("Show in picker"))
            }${button("unlist", say("Hide from picker"))}${button("remove", say("Remove"), "danger")}${
              textField(visit, { name: "category", label: say("Category for selected emoji") })
            }${button("categorise", say("Set category"))}`
        )
      }${pager(visit, found.map(({ id }) => id))}`
    }
  })

  const changes = (change: Parameters<Emojis["Service"]["change"]>[2]): Act => ({
    run: (visit) =>
      eachChosen(
        visit,
        (id) => emojis.change(visit.by, id, change),
        ({ say }, count) => say("{count, plural, one {# emoji was} other {# emoji were}} changed.", { count })
      )
  })
  const refused = {
    MediaRefused: ({ text }: MediaRefused) => validationFailed(`Image ${text}`),
    MediaToolFailed: () => validationFailed("Image is invalid"),
    StorageFailed: () => new Unavailable()
  }

  return staff.page({
    path: "/admin/custom_emojis",
    permission: "manageCustomEmojis",
    show,
    acts: {
      enable: changes({ disabled: false }),
      disable: changes({ disabled: true }),
      list: changes({ listed: true }),
      unlist: changes({ listed: false }),
      categorise: {
        run: (visit) =>
          eachChosen(
            visit,
            (id) => emojis.change(visit.by, id, { category: visit.form.get("category")?.trim() || null }),
            ({ say }, count) =>
              say("{count, plural, one {# emoji has} other {# emoji have}} a new category.", { count })
          )
      },
      copy: {
        run: (visit) =>
          eachChosen(
            visit,
            (id) => copies.copy(visit.by, id, { category: null }).pipe(Effect.catchTags(refused)),
            ({ say }, count) => say("{count, plural, one {# emoji was} other {# emoji were}} copied.", { count })
          )
      },
      remove: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Remove these emoji?"),
            text: say(
              "Posts will show their shortcodes instead. This cannot be undone; a disabled emoji can be enabled again."
            ),
            button: say("Remove"),
            danger: true
          }),
        run: (visit) =>
          eachChosen(
            visit,
            Effect.fnUntraced(function*(id) {
              const found = yield* records.find(id)
              if (found === undefined || found.domain !== null) return yield* new RecordNotFound()
              yield* emojis.remove(visit.by, id)
            }),
            ({ say }, count) => say("{count, plural, one {# emoji was} other {# emoji were}} removed.", { count })
          )
      }
    }
  })
})

/** Custom emoji of this server, and remote emoji that it can copy. */
export const layer = Layer.unwrap(make)
