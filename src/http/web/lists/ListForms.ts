import type { ListRecord } from "../../../services/social/OwnedLists.ts"
import { type Html, html } from "../../html/Html.ts"
import { actForm } from "../shell/ActForm.ts"
import type { MemberVisit } from "../shell/Visit.ts"

/** Path of the acts on one list. */
export const listActPath = (id: bigint): string => `/web/lists/${id}`

/** Path of the timeline of a list. */
export const listPath = (id: bigint): string => `/lists/${id}`

/** Renders the fields of a list; without one, those of a new list. */
export const listFields = ({ reader: { words: { say } } }: MemberVisit, list?: ListRecord): Html => {
  const policies = [
    ["list", say("Replies to members of the list")],
    ["followed", say("Replies to anyone you follow")],
    ["none", say("No replies")]
  ] as const
  const chosen = list?.repliesPolicy ?? "list"
  return html`<label>${say("Title")}<input name="title" required maxlength="256" value="${list?.title ?? ""}"></label>
<label>${say("Show replies")}<select name="replies_policy">${
    policies.map(([value, label]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ""}>${label}</option>`
    )
  }</select></label>
<label class="check"><input type="checkbox" name="exclusive" value="true"${
    list?.exclusive === true ? html` checked` : ""
  }>${say("Hide members' posts from Home")}</label>`
}

/** Returns the fields of a list from its form. */
export const listOf = (form: URLSearchParams) => ({
  title: form.get("title") ?? "",
  repliesPolicy: form.get("replies_policy") ?? undefined,
  exclusive: form.get("exclusive") === "true"
})

/**
 * Renders the viewer's lists as check boxes, with those checked that have the account as a member. `accountId` is the
 * account's.
 */
export const listsFor = (
  visit: MemberVisit,
  accountId: string,
  all: ReadonlyArray<ListRecord>,
  holding: ReadonlyArray<ListRecord>
): Html => {
  const { say } = visit.reader.words
  const held = new Set(holding.map(({ id }) => id))
  return all.length === 0
    ? html`<p class="soft">${say("You have no lists yet.")}</p>`
    : actForm(
      visit,
      `/web/accounts/${accountId}/lists`,
      html`<fieldset><legend class="unseen">${say("Lists")}</legend>${
        all.map(({ id, title }) =>
          html`<label class="check"><input type="checkbox" name="list[]" value="${id}"${
            held.has(id) ? html` checked` : ""
          }><span dir="auto">${title}</span></label>`
        )
      }</fieldset><button type="submit" name="act" value="save">${say("Save")}</button>`,
      "stack"
    )
}
