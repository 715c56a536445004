import { type Html, html } from "../../html/Html.ts"
import { hashedFile } from "./HashedFile.ts"

/** Drawings of the icons on a grid of 24, with lines of 2; by name. */
const drawings = {
  home: "M4 11 12 4l8 7v9h-5v-6H9v6H4z",
  bell: "M6 17V11a6 6 0 0 1 12 0v6l2 1H4zM10 21h4",
  people:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-4 3-6 6-6s6 2 6 6zM16 4.5a3.5 3.5 0 0 1 0 6.5M17 14c2.5.5 4 2.5 4 6",
  globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18",
  compass: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM15.5 8.5 13.5 13.5 8.5 15.5 10.5 10.5z",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5",
  mail: "M3 6h18v12H3zM3 7l9 7 9-7",
  bookmark: "M6 4h12v17l-6-5-6 5z",
  star: "M12 3l2.7 6 6.3.6-4.8 4.3 1.5 6.3L12 17l-5.7 3.2 1.5-6.3L3 9.6 9.3 9z",
  list: "M4 6h2M9 6h11M4 12h2M9 12h11M4 18h2M9 18h11",
  draft: "M6 3h9l4 4v14H6zM14 3v5h5M9 12h6M9 16h6",
  gear:
    "M12 8.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M18.4 5.6l-2.2 2.2M7.8 16.2l-2.2 2.2",
  pen: "M4 20l1-5L16 4l4 4L9 19zM14 6l4 4",
  reply: "M10 6 4 12l6 6M4 12h9c4 0 7 2 7 6",
  boost: "M7 4 3 8h4m-4 0h12a3 3 0 0 1 3 3v2M17 20l4-4h-4m4 0H9a3 3 0 0 1-3-3v-2",
  quote: "M5 17c3-1 4-3 4-6H4V6h6v5M15 17c3-1 4-3 4-6h-5V6h6v5",
  more: "M4.5 12h1M11.5 12h1M18.5 12h1",
  shield: "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z",
  key: "M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 12l9-9M16 7l3 3",
  ticket: "M3 7h18v3a2 2 0 0 0 0 4v3H3v-3a2 2 0 0 0 0-4zM14 7v10",
  apps: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
  leave: "M10 4H4v16h6M9 12h12M17 8l4 4-4 4",
  enter: "M14 4h6v16h-6M3 12h12M11 8l4 4-4 4",
  lock: "M5 11h14v10H5zM8 11V8a4 4 0 0 1 8 0v3",
  unlisted: "M5 11h14v10H5zM8 11V8a4 4 0 0 1 7.5-2",
  at: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM16 8v6c0 3 5 3 5-2a9 9 0 1 0-4 7",
  hash: "M9 4 7 20M17 4l-2 16M4 9h17M3 15h17",
  pin: "M9 4h6l-1 6 4 4H6l4-4zM12 14v7",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-5 4-7 8-7s8 2 8 7",
  image: "M3 5h18v14H3zM3 16l5-5 5 5 3-3 5 5M15.5 9.5h.01",
  poll: "M5 20V10h3v10zM11 20V4h3v16zM17 20v-7h3v7z",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l4 2",
  block: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM6 6l12 12",
  mute: "M4 9h4l5-5v16l-5-5H4zM17 9l5 6M22 9l-5 6",
  flag: "M5 21V4M5 4c5-2 9 2 14 0v10c-5 2-9-2-14 0",
  bin: "M4 7h16M9 7V4h6v3M6 7l1 14h10l1-14M10 11v6M14 11v6",
  plus: "M12 4v16M4 12h16",
  check: "M4 13l5 5L20 6",
  cross: "M5 5l14 14M19 5 5 19",
  back: "M15 5l-7 7 7 7",
  forth: "M9 5l7 7-7 7",
  zoom: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5M11 8v6M8 11h6",
  menu: "M4 6h16M4 12h16M4 18h16",
  open: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  calendar: "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4",
  smile: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8 14c1 3 7 3 8 0M9 9.5h.01M15 9.5h.01",
  warning: "M12 4 2.5 20h19zM12 10v5M12 17.5h.01"
} as const

export type IconName = keyof typeof drawings

/** Edge of a drawing's grid. */
const grid = 24

const names = Object.keys(drawings)

/** All drawings in one row. */
const sprite = `<svg xmlns="http://www.w3.org/2000/svg" width="${grid * names.length}" height="${grid}">` +
  `<g fill="none" stroke="#000" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${
    Object.values(drawings).map((path, at) => `<path transform="translate(${grid * at})" d="${path}"/>`).join("")
  }</g></svg>`

const file = hashedFile("icons", "svg", "image/svg+xml", sprite)

/** Icons that point somewhere: languages that are written from right to left mirror them. */
const mirrored: ReadonlySet<IconName> = new Set(["back", "enter", "forth", "leave", "list", "open", "quote", "reply"])

/**
 * Renders an icon beside its text; it has none of its own. It is one element, a mask in the colour of the text: an
 * `<svg>` with `<use>` takes five nodes, and with them half of the memory of a post.
 */
export const icon = (name: IconName): Html =>
  html`<i class="icon i-${name}${mirrored.has(name) ? " mirrored" : ""}"></i>`

const positionOf = (at: number) => Number((100 * at / (names.length - 1)).toFixed(4))

/** Styles of icons. Browsers without masks show none; those with forced colours replace any other background. */
export const iconStyle = `
.icon { display: inline-block; width: 1.25rem; height: 1.25rem; flex: none; vertical-align: -.25rem }
[dir=rtl] .mirrored { transform: scaleX(-1) }
@supports (-webkit-mask-image: none) {
  .icon { background: currentColor; print-color-adjust: exact;
    -webkit-mask: url(${file.path}) 0 0 / ${100 * names.length}% 100% no-repeat }
}
@media (forced-colors: active) {
  .icon { background: CanvasText }
  a .icon { background: LinkText }
  button .icon { background: ButtonText }
}
${names.map((name, at) => `.i-${name} { -webkit-mask-position: ${positionOf(at)}% 0 }`).join("\n")}`

/** Serves the drawings of all icons as one file. */
export const layer = file.route
