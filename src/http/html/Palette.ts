/** Colours of our pages in light and dark mode, by their names in the stylesheet. */
export const palette = {
  light: {
    back: "#f4f3f7",
    card: "#ffffff",
    text: "#1f1b2d",
    soft: "#5c566e",
    line: "#d9d5e4",
    accent: "#5b3fd6",
    onAccent: "#ffffff",
    danger: "#b3261e",
    dangerBack: "#fdeceb",
    goodBack: "#e9f6ec"
  },
  dark: {
    back: "#15121d",
    card: "#211d2c",
    text: "#ece9f4",
    soft: "#aaa3bd",
    line: "#3a3449",
    accent: "#a693ff",
    onAccent: "#17122b",
    danger: "#ff9d94",
    dangerBack: "#3d1f21",
    goodBack: "#1c3325"
  }
} as const

type Scheme = keyof typeof palette

/** Backgrounds of links and marks in the accent colour. */
const backgrounds = ["back", "card", "dangerBack", "goodBack"] as const
/** Minimum contrast of text (WCAG 2.2, 1.4.3), with a margin because browsers round. */
const contrastMin = 4.55
/** Steps in which a colour is moved towards black or white. */
const steps = 50

type Rgb = readonly [red: number, green: number, blue: number]

const rgbOf = (color: string): Rgb => {
  const value = Number.parseInt(color.slice(1), 16)
  return [value >> 16 & 255, value >> 8 & 255, value & 255]
}
const textOf = (rgb: Rgb): string => `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`

const luminance = (color: string): number => {
  const [red, green, blue] = rgbOf(color)
  const linear = (part: number) => part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

/** Returns the contrast of two colours `#rrggbb`, from 1 to 21. */
export const contrastOf = (one: string, other: string): number => {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

/** The accent colour in one scheme, and the text colour on it. */
export interface Accent {
  readonly accent: string
  readonly onAccent: string
}

/**
 * Returns a colour `#rrggbb` as links, marks and buttons can use it: darkened in light mode, or lightened in dark mode,
 * just enough to be readable. Black in light and white in dark mode always pass.
 */
export const accentOf = (color: string, scheme: Scheme): Accent => {
  const backgroundColors = backgrounds.map((name) => palette[scheme][name])
  const target = scheme === "light" ? 0 : 255
  const words = [palette.light.onAccent, palette.dark.onAccent] as const
  const moved = (step: number) => {
    const [red, green, blue] = rgbOf(color)
    const part = (value: number) => value + (target - value) * step / steps
    return textOf([part(red), part(green), part(blue)])
  }
  const clearest = (accent: string) =>
    contrastOf(accent, words[0]) >= contrastOf(accent, words[1]) ? words[0] : words[1]
  const accent =
    Array.from({ length: steps + 1 }, (_, step) => moved(step)).find((one) =>
      [...backgroundColors, clearest(one)].every((other) => contrastOf(one, other) >= contrastMin)
    ) ?? moved(steps)
  return { accent, onAccent: clearest(accent) }
}
