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
  /** A pixel as one number, transparency included. */
  const pixelsOf = (context: CanvasRenderingContext2D, width: number, height: number) =>
    new Uint32Array(context.getImageData(0, 0, width, height).data.buffer)
  const pixelOf = (color: string) => {
    probe.fillStyle = color
    probe.fillRect(0, 0, 1, 1)
    return pixelsOf(probe, 1, 1)[0]
  }
  const root = document.createElement('span')
  root.style.color = 'var(--line)'
  document.body.append(root)
  const line = pixelOf(getComputedStyle(root).color)
  root.remove()

  const read = (figure: Element): DrawnPlot => {
    const canvas = figure.querySelector('canvas')!
    const { width, height } = canvas
    const copy = readable(width, height)
    copy.drawImage(canvas, 0, 0)
    const pixels = pixelsOf(copy, width, height)
    /** How many of the pixels have this color, of which each is so many after the one before. */
    const countOf = (color: number | undefined, first: number, end: number, distance: number) => {
      let count = 0
      for (let at = first; at < end; at += distance) if (pixels[at] === color) count++
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
    const rows = Array.from({ length: height }, (_, y) => y).filter(
      (y) => countOf(line, y * width, (y + 1) * width, 1) > width / 4,
    )
    const baseline = Math.max(...rows)
    return {
      title: figure.querySelector('strong')!.innerText,
      valueTicks: runs(height, (y) => Number(rows.includes(y))).length,
      timeTicks: runs(width, (x) => Number(pixels[(baseline + 3) * width + x] === line)).length,
      series: [...figure.querySelectorAll('.swatch')].map((swatch) => {
        const color = pixelOf(getComputedStyle(swatch).backgroundColor)
        return runs(width, (x) => countOf(color, x, pixels.length, width))
      }),
    }
  }
  return [...document.querySelectorAll('figure.chart')].map(read)
}
