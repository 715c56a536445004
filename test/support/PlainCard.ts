import type { Card } from "../../src/services/cards/Card.ts"

/** A card that shows a title and nothing else. */
export const plainCard: Card = {
  title: "t",
  description: "",
  language: null,
  type: "link",
  authorName: "",
  authorUrl: "",
  providerName: "",
  providerUrl: "",
  html: "",
  width: 0,
  height: 0,
  embedUrl: "",
  imageDescription: "",
  publishedAt: null
}
