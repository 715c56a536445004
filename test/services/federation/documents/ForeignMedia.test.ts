import { assert, describe, it } from "@effect/vitest"
import { emojiDocument } from "../../../../src/services/federation/documents/EmojiDocument.ts"
import { foreignAttachments, foreignPicture } from "../../../../src/services/federation/documents/ForeignMedia.ts"
import { urlReader } from "../../../../src/services/federation/documents/ForeignValues.ts"

const readUrl = urlReader([])
const url = "https://there.test/a.png"

describe("pictures of other servers", () => {
  it("F42: the description of a post's file is its name, that of a profile picture its summary, otherwise the other one", () => {
    const both = { type: "Image", mediaType: "image/png", url, name: "a name", summary: "a summary" }
    const described = ({ name, summary }: { name?: string; summary?: string }) => {
      const picture = { type: "Image", mediaType: "image/png", url, name, summary }
      const [file] = foreignAttachments({ attachment: [picture] }, readUrl, (text) => text)
      return [file?.description, foreignPicture(picture, readUrl)?.description]
    }
    assert.deepStrictEqual(described(both), ["a name", "a summary"])
    assert.deepStrictEqual(described({ name: "a name" }), ["a name", "a name"])
    assert.deepStrictEqual(described({ summary: "a summary" }), ["a summary", "a summary"])
  })

  it("F42: an emoji states its time of change", () => {
    const emoji = {
      id: 1n,
      shortcode: "bird",
      url: "https://here.test/b.png",
      staticUrl: "https://here.test/b.png",
      visibleInPicker: true,
      category: null
    }
    const document = emojiDocument({ publicUrl: "https://here.test" }, {
      ...emoji,
      updatedAt: new Date(1_700_000_000_123)
    })
    assert.strictEqual(document["updated"], "2023-11-14T22:13:20.123Z")
  })
})
