import type { Page } from 'playwright-core'

/** What is drawn in the plot of a chart, as its pixels show. */
export type DrawnPlot = {
  readonly title: string
  /** The lines of the grid, which are the ticks of the vertical axis, and the ticks of the axis of times. */
  readonly valueTicks: number
  readonly timeTicks: number
  /** Of each series, the runs of columns with its color: from and to in pixels, and the colored pixels of the highest column. */
  readonly series: readonly (readonly Mark[])[]
}

/** A bar, a point, or a line without a gap. */
export type Mark = { readonly from: number; readonly to: number; readonly height: number }

/** Reads the pixels of all plots of the page. */
export function drawnPlots(page: Page): Promise<DrawnPlot[]> {
  return page.evaluate(readPlots)
}

/** Runs in the page. */
function readPlots(): DrawnPlot[] {
  // Chromium warns of a canvas that is read often: the plots are copied to one that is made for it.
  const readable = (width: number, height: number) =>
    Object.assign(document.createElement('canvas'), { width, height }).getContext('2d', {
      willReadFrequently: true,
    })!
  const probe = readable(1, 1)
  const rgbOf = (color: string) => {
    probe.fillStyle = color
    probe.fillRect(0, 0, 1, 1)
    return probe.getImageData(0, 0, 1, 1).data.slice(0, 3)
  }
  const root = document.createElement('span')
  root.style.color = 'var(--line)'
  document.body.append(root)
  const line = rgbOf(getComputedStyle(root).color)
  root.remove()

  const read = (figure: Element): DrawnPlot => {
    const canvas = figure.querySelector('canvas')!
    const { width, height } = canvas
    const copy = readable(width, height)
    copy.drawImage(canvas, 0, 0)
    const { data } = copy.getImageData(0, 0, width, height)
    const has = (x: number, y: number, rgb: Uint8ClampedArray) => {
      const at = (y * width + x) * 4
      return data[at + 3] === 255 && rgb.every((value, index) => data[at + index] === value)
    }
    const countInRow = (y: number, rgb: Uint8ClampedArray) => {
      let count = 0
      for (let x = 0; x < width; x++) if (has(x, y, rgb)) count++
      return count
    }
    const runs = (count: number, sizeAt: (index: number) => number) => {
      const marks: { from: number; to: number; height: number }[] = []
      for (let index = 0; index < count; index++) {
        const size = sizeAt(index)
        const last = marks.at(-1)
        if (size === 0) continue
        if (last?.to === index - 1) Object.assign(last, { to: index, height: Math.max(last.height, size) })
        else marks.push({ from: index, to: index, height: size })
      }
      return marks
    }
    // Bars may hide most of a line, but neither its ends nor the lowest line.
    const rows = Array.from({ length: height }, (_, y) => y).filter((y) => countInRow(y, line) > width / 4)
    const baseline = Math.max(...rows)
    const columnHeight = (x: number, rgb: Uint8ClampedArray) => {
      let count = 0
      for (let y = 0; y < height; y++) if (has(x, y, rgb)) count++
      return count
    }
    return {
      title: figure.querySelector('strong')!.innerText,
      valueTicks: runs(height, (y) => Number(rows.includes(y))).length,
      timeTicks: runs(width, (x) => Number(has(x, baseline + 3, line))).length,
      series: [...figure.querySelectorAll('.swatch')].map((swatch) => {
        const rgb = rgbOf(getComputedStyle(swatch).backgroundColor)
        return runs(width, (x) => columnHeight(x, rgb))
      }),
    }
  }
  return [...document.querySelectorAll('figure.chart')].map(read)
}
