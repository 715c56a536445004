import { countedCharacters, statusCharactersMax } from "../../../services/html/Text.ts"
import { languages } from "../../../services/instance/Languages.ts"
import type { Catalog } from "../../../services/languages/Catalogs.ts"
import { controlled } from "../../../services/statuses/InteractionPolicy.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { policyField } from "../policies/PolicyChoices.ts"
import { icon } from "../shell/Icons.ts"
import type { Visit } from "../shell/Visit.ts"
import { type Composition, controlFields, offeredVisibilities, threadPostsMax } from "./Composition.ts"
import { fileFields, type ShownFile } from "./FileFields.ts"
import { pollFields } from "./PollFields.ts"

/** Scripts of pages with the composer, in the order in which they load. */
export const composeScripts = [
  "insertion",
  "completion",
  "emojis",
  "files",
  "typed",
  "drafts",
  "unsaved",
  "compose"
] as const

/** Path that the composer's form is sent to. */
export const composePath = "/web/compose"
/** Page with the server's emoji. */
export const emojisPath = "/publish/emojis"

/** A composition with what the form shows besides its fields. */
interface Shown {
  readonly composition: Composition
  readonly files: ReadonlyArray<ShownFile>
  /** Path of the page to return to after the post. */
  readonly back: string
  /** Warnings that the next "Post anyway" confirms. */
  readonly concerns: ReadonlyArray<string>
  /** True if the server's count of characters is shown. */
  readonly counted: boolean
}

/** Renders the choice of who sees the post. */
const visibilityField = ({ reader: { words: { say } } }: Visit, chosen: Composition["audience"]): Html => {
  const labels = {
    public: say("Public"),
    unlisted: say("Quiet public"),
    private: say("Followers only"),
    direct: say("Mentioned people only"),
    local: say("This server only")
  }
  return html`<label class="audience"><span>${say("Visible to")}</span><select name="visibility">${
    offeredVisibilities.map((one) =>
      html`<option value="${one}"${one === chosen ? html` selected` : ""}>${labels[one]}</option>`
    )
  }</select></label>`
}

const languageField = ({ reader: { words: { say, tag } } }: Visit, chosen: string): Html => {
  const names = new Intl.DisplayNames([tag], { type: "language" })
  const known = languages.map(({ code, name }) => [code, names.of(code) ?? name] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b, tag))
  return html`<label>${say("Language")}<select name="language"><option value="">${say("Default")}</option>${
    known.map(([language, name]) =>
      html`<option value="${language}"${language === chosen ? html` selected` : ""}>${name}</option>`
    )
  }</select></label>`
}

const quoteField = ({ reader: { words: { say } } }: Visit, chosen: string): Html => {
  const all = [["public", say("Everyone")], ["followers", say("Followers only")], ["nobody", say("Only me")]] as const
  return html`<label>${say("Who can quote")}<select name="quote_policy">${
    all.map(([value, label]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ""}>${label}</option>`
    )
  }</select></label>`
}

/** Counts that are tried for each plural of a language. */
const samplesMax = 120
const labels = new Map<string, string>()

/**
 * Returns the texts of the counter as JSON, by plural category (`Intl.PluralRules`), with `%` for the number. They are
 * computed once per language.
 */
const leftLabels = ({ figure, say, tag }: Catalog): string => {
  const known = labels.get(tag)
  if (known !== undefined) return known
  const rules = new Intl.PluralRules(tag)
  // The smallest count of each category is the last one, and stays.
  const samples = new Map(
    Array.from({ length: samplesMax + 1 }, (_, at) => samplesMax - at).map((count) => [rules.select(count), count])
  )
  const counterTexts = JSON.stringify(Object.fromEntries(
    [...samples].map(([category, count]) => [
      category,
      say("{count, plural, one {# character left} other {# characters left}}", { count }).replace(figure(count), "%")
    ])
  ))
  labels.set(tag, counterTexts)
  return counterTexts
}

const left = ({ reader: { words: { say } } }: Visit, text: string, spoiler: string): string =>
  say("{count, plural, one {# character left} other {# characters left}}", {
    count: statusCharactersMax - countedCharacters(text, spoiler)
  })

/** Renders the text of one post of the thread, with its counter. */
const textField = (visit: Visit, { composition: { spoiler, texts }, counted }: Shown, at: number): Html => {
  const { say } = visit.reader.words
  const text = texts[at] ?? ""
  const label = texts.length === 1 ? say("Text") : say("Post {number}", { number: at + 1 })
  return html`<div class="composed-text"><label>${label}<textarea name="${at === 0 ? "text" : "more[]"}" rows="${
    at === 0 ? 6 : 4
  }" dir="auto"${
    at === 0 ? html` autofocus` : ""
  }>${text}</textarea></label><p class="left soft" data-left data-max="${statusCharactersMax}" data-labels="${
    leftLabels(visit.reader.words)
  }">${
    counted || text !== ""
      ? left(visit, text, at === 0 ? spoiler : "")
      : say("Up to {count} characters", { count: statusCharactersMax })
  }</p></div>`
}

const refField = (name: string, id: bigint | undefined): Html | "" => id === undefined ? "" : hidden(name, String(id))

/** Renders the whole form. */
export const composeForm = (visit: Visit, shown: Shown): Html => {
  const { back, composition, concerns, files } = shown
  const { formToken, reader: { way, words: { say } } } = visit
  const {
    at,
    audience,
    contentType,
    control,
    draft,
    edit,
    key,
    language,
    quote,
    quotePolicy,
    replyTo,
    sensitive,
    spoiler,
    texts,
    zone
  } = composition
  const isEdit = edit !== undefined
  return html`<form method="post" action="${
    way(composePath)
  }" enctype="multipart/form-data" class="compose panel" data-compose="${visit.session?.username ?? ""}">${
    tokenInput(formToken)
  }${hidden("return", back)}${hidden("key", key)}${contentType === "" ? "" : hidden("content_type", contentType)}${
    refField("draft", draft)
  }${refField("edit", edit)}${refField("reply_to", replyTo)}${
    refField("quote", quote)
  }<button type="submit" name="act" value="preview" class="unseen" tabindex="-1" aria-hidden="true">${
    say("Preview")
  }</button>${texts.map((_, place) => textField(visit, shown, place))}<p class="row tools">${
    isEdit || texts.length >= threadPostsMax
      ? ""
      : html`<button type="submit" name="act" value="add_post" class="plain">${icon("plus")}${
        say("Add another post")
      }</button>`
  }<a href="${way(emojisPath)}" target="_blank" data-emojis>${icon("smile")}${say("Emoji")}</a></p>${
    fileFields(visit, files, sensitive)
  }<details class="part"${spoiler === "" ? "" : html` open`}><summary>${say("Content warning")}</summary><label>${
    say("Shown instead of the text")
  }<input name="spoiler_text" value="${spoiler}" dir="auto"></label></details>${
    pollFields(visit, composition)
  }<details class="part"><summary>${say("Who may interact")}</summary>${quoteField(visit, quotePolicy)}${
    controlled.map((interaction) =>
      policyField(visit.reader.words, interaction, {
        ...controlFields(interaction),
        chosen: control?.[interaction] ?? { audience: "", mayAsk: false },
        hasDefault: !isEdit
      })
    )
  }</details><details class="part"${at === "" ? "" : html` open`}><summary>${
    isEdit ? say("Language") : say("Language and time")
  }</summary>${languageField(visit, language)}${
    isEdit
      ? ""
      : html`<label>${say("Publish at")}<input type="datetime-local" name="at" value="${at}"><span class="hint">${
        say("Time zone: {zone}", { zone })
      }</span></label>${hidden("zone", zone)}`
  }</details>${
    concerns.length === 0
      ? ""
      : html`<div class="problem concerns" role="alert">${
        concerns.map((text) => html`<p>${text}</p>`)
      }<button type="submit" name="act" value="post_anyway">${say("Post anyway")}</button></div>`
  }<div class="row send">${
    isEdit ? hidden("visibility", audience) : visibilityField(visit, audience)
  }<span class="buttons">${
    isEdit ? "" : html`<button type="submit" name="act" value="save" class="plain">${say("Save draft")}</button>`
  }<button type="submit" name="act" value="preview" class="plain">${
    say("Preview")
  }</button><button type="submit" name="act" value="post">${
    isEdit ? say("Save changes") : at === "" ? say("Post") : say("Schedule")
  }</button></span></div><p class="saved soft" data-saved="${say("Draft saved")}" data-unsaved="${
    say("Not saved: no connection")
  }" role="status"></p></form>`
}

/** Renders the short form above Home: text and visibility; "More" leads to the whole form with what was typed. */
export const shortForm = (
  visit: Visit,
  { audience, key, language, quotePolicy, sensitive, zone }: Composition
): Html => {
  const { formToken, pathAndQuery, reader: { way, words: { say } } } = visit
  return html`<form method="post" action="${
    way(composePath)
  }" enctype="multipart/form-data" class="compose short panel" data-compose="${visit.session?.username ?? ""}">${
    tokenInput(formToken)
  }${hidden("return", pathAndQuery)}${hidden("key", key)}${hidden("language", language)}${
    hidden("quote_policy", quotePolicy)
  }${hidden("zone", zone)}${sensitive ? hidden("sensitive", "1") : ""}<label>${
    say("What is on your mind?")
  }<textarea name="text" rows="2" dir="auto"></textarea></label><div class="row send">${
    visibilityField(visit, audience)
  }<span class="buttons"><button type="submit" name="act" value="more" class="plain">${
    say("More")
  }</button><button type="submit" name="act" value="post">${say("Post")}</button></span></div></form>`
}
