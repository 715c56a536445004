import type { Colors } from "../../services/media/MediaRecord.ts"

type Color = readonly [red: number, green: number, blue: number]

/** Minimum contrast of readable text, and of distinguishable shapes (WCAG 2.2, 1.4.3 and 1.4.11). */
const textContrastMin = 4.5
const shapeContrastMin = 3
/** Bits per channel by which colours are grouped. */
const channelBits = 4
/** Minimum share of a picture's pixels for a colour to count. */
const shareMin = 0.005

const linear = (channel: number): number => {
  const part = channel / 255
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
}
const luminance = ([red, green, blue]: Color): number =>
  0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)

/** Returns the contrast of two colours, from 1 (equal) to 21 (black on white). */
export const contrast = (a: Color, b: Color): number => {
  const [one, other] = [luminance(a), luminance(b)]
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
}

const saturation = (color: Color): number => Math.max(...color) - Math.min(...color)
const hex = (color: Color): string => `#${color.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`

const most = (colors: ReadonlyArray<Color>, by: (color: Color) => number): Color | undefined =>
  colors.reduce<Color | undefined>((best, one) => best === undefined || by(one) > by(best) ? one : best, undefined)

/**
 * Returns the colours of a small picture of `width` pixels per row, four bytes per pixel. The most frequent colour at
 * the edges is the background. The one with the most contrast to it is the foreground, for text. The most saturated one
 * that is distinguishable from the background is the accent.
 */
export const colorsOf = (pixels: Uint8ClampedArray, width: number): Colors => {
  const height = pixels.length / 4 / width
  const all = new Map<number, { sum: [number, number, number]; count: number; edge: number }>()
  for (let at = 0; at < width * height; at++) {
    const color = [pixels[at * 4] ?? 0, pixels[at * 4 + 1] ?? 0, pixels[at * 4 + 2] ?? 0] as const
    const key = color.reduce((bits, channel) => bits << channelBits | channel >> 8 - channelBits, 0)
    const known = all.get(key) ?? { sum: [0, 0, 0], count: 0, edge: 0 }
    const [row, column] = [Math.floor(at / width), at % width]
    known.sum = [known.sum[0] + color[0], known.sum[1] + color[1], known.sum[2] + color[2]]
    known.count++
    if (row === 0 || column === 0 || row === height - 1 || column === width - 1) known.edge++
    all.set(key, known)
  }
  const meanOf = (
    { count, sum: [red, green, blue] }: { sum: Color; count: number }
  ): Color => [red / count, green / count, blue / count]
  const behind = [...all.values()].reduce((best, one) => one.edge > best.edge ? one : best)
  const background = meanOf(behind)
  const shown = [...all.values()].filter(({ count }) => count >= width * height * shareMin).map(meanOf)
  const standing = most(shown, (color) => contrast(color, background))
  const plain: Color = luminance(background) > 0.179 ? [0, 0, 0] : [255, 255, 255]
  const foreground = standing !== undefined && contrast(standing, background) >= textContrastMin ? standing : plain
  const accent = most(shown.filter((color) => contrast(color, background) >= shapeContrastMin), saturation)
  return { background: hex(background), foreground: hex(foreground), accent: hex(accent ?? foreground) }
}
