import { useEffect, useRef, useState } from 'preact/hooks'

/** Pixels; the style sheet has the same value. */
export const rowHeight = 36
/** A shorter list is rendered whole, so that the browser can search in it. */
const minVirtualized = 200
/** Rows above and below those in sight. */
const overscan = 12

/** Which rows of a long list have to be rendered for the part of the container in sight. */
export function useWindow(count: number) {
  const container = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState({ top: 0, height: 800 })
  const measure = () => {
    const { scrollTop = 0, clientHeight = 0 } = container.current ?? {}
    // The number of rendered rows changes only with whole steps.
    const step = rowHeight * Math.floor(overscan / 2)
    const top = Math.floor(scrollTop / step) * step
    setRange((current) =>
      current.top === top && current.height === clientHeight ? current : { top, height: clientHeight },
    )
  }
  useEffect(measure, [count])
  const whole = count <= minVirtualized
  const first = whole ? 0 : Math.max(0, Math.floor(range.top / rowHeight) - overscan)
  const visible = Math.ceil(range.height / rowHeight) + 3 * overscan
  return { container, first, last: whole ? count : Math.min(count, first + visible), onScroll: measure }
}

/** Pixels from the end at which more rows are requested. */
const nearEnd = 600

/** Calls `onNearEnd` after each change of the rows while the end of the list is in sight; returns what to call on a scroll. */
export function useNearEnd(
  container: { readonly current: HTMLElement | null },
  count: number,
  onNearEnd: (() => void) | undefined,
): () => void {
  const check = () => {
    const element = container.current
    if (element === null || onNearEnd === undefined) return
    if (element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd) onNearEnd()
  }
  useEffect(check, [count, onNearEnd])
  return check
}
