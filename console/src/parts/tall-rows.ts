// Rows of a list that is taller than browsers lay out. Firefox shows nothing beyond about 17.9 million pixels, which a log of a million lines has: beyond
// `TALLEST` the scroll bar moves through the list by more than it moves itself.

import { elementScroll, observeElementOffset, useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useRef } from 'react'

const TALLEST = 15_000_000

/** How far the list moves when the frame scrolls by one pixel, so that both reach their ends together. */
export function scrollScale(listHeight: number, frameHeight: number, tallest = TALLEST): number {
  return listHeight <= tallest ? 1 : (listHeight - frameHeight) / (tallest - frameHeight)
}

interface Options {
  readonly count: number
  readonly frame: RefObject<HTMLElement | null>
  readonly rowHeight: number
  readonly overscan: number
}

export function useTallRows({ count, frame, rowHeight, overscan }: Options) {
  const scale = useRef(1)
  const rows = useVirtualizer<HTMLElement, HTMLElement>({
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan,
    observeElementOffset: (instance, report) =>
      observeElementOffset(instance, (offset, isScrolling) => report(offset * scale.current, isScrolling)),
    scrollToFn: (offset, { adjustments = 0, ...options }, instance) =>
      elementScroll((offset + adjustments) / scale.current, options, instance),
  })
  const listHeight = rows.getTotalSize()
  scale.current = scrollScale(listHeight, frame.current?.clientHeight ?? 0)
  const offset = rows.scrollOffset ?? 0
  return {
    height: Math.min(listHeight, TALLEST),
    measure: rows.measureElement,
    /** Rows that are seen, with their place in the frame. */
    items: rows.getVirtualItems().map(({ index, start }) => ({ index, top: start - offset + offset / scale.current })),
    /** By hand: the virtualiser has only what the frame can scroll to. */
    showInMiddle(index: number): void {
      const at = rows.measurementsCache[index]
      if (at && frame.current) frame.current.scrollTop = (at.start - frame.current.clientHeight / 2) / scale.current
    },
  }
}
