import {
  collectionDescriptionMax,
  collectionNameMax,
  type CollectionRecord
} from "../../../services/collections/Collection.ts"
import { type Html, html } from "../../html/Html.ts"
import type { MemberVisit } from "../shell/Visit.ts"

/** Path of the page on which a collection is changed. */
export const collectionEditPath = (id: bigint): string => `/collections/${id}/edit`

/** Path of the acts on a collection. */
export const collectionActPath = (id: bigint): string => `/web/collections/${id}`

/** Renders the fields of a collection; without one, those of a new collection. */
export const collectionFields = (
  { reader: { words: { say } } }: MemberVisit,
  collection?: CollectionRecord
): Html => {
  const check = (name: string, isOn: boolean, label: string) =>
    html`<label class="check"><input type="checkbox" name="${name}" value="true"${
      isOn ? html` checked` : ""
    }>${label}</label>`
  return html`<label>${say("Name")}<input name="name" required maxlength="${collectionNameMax}" value="${
    collection?.name ?? ""
  }"></label>
<label>${say("Description")}<input name="description" maxlength="${collectionDescriptionMax}" value="${
    collection?.description ?? ""
  }"></label>
<label>${say("Hashtag")}<input name="tag_name" maxlength="200" autocapitalize="none" value="${
    collection?.tagName ?? ""
  }"></label>
${check("discoverable", collection?.discoverable ?? true, say("Show it on your profile and in searches"))}
${check("sensitive", collection?.sensitive ?? false, say("Sensitive content"))}`
}

/** Returns the fields of a collection from its form. */
export const collectionOf = (form: URLSearchParams) => ({
  name: form.get("name") ?? "",
  description: form.get("description") ?? "",
  tagName: (form.get("tag_name") ?? "").trim(),
  discoverable: form.get("discoverable") === "true",
  sensitive: form.get("sensitive") === "true"
})
