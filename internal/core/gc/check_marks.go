package gc

// CheckMarks walks what belongs to marking and returns "" or what is wrong. The world stands. Check calls it.
func (h *Heap) CheckMarks() string {
	w := &h.marking
	if w.joined > 1 && w.done == 0 && w.stop == 0 {
		return "gc: helpers are at work"
	}
	for i := range w.markers {
		m := &w.markers[i]
		if i > 0 && (m.own.head != 0 || m.ringFrom != m.ringTo) || m.assists != 0 || m.shaded != 0 || m.depth != 0 ||
			m.here != noBlock && m.highest != 0 {
			return "gc: a worker has left without its work"
		}
	}
	queued, wrong := h.checkQueue(&w.markers[0].own)
	if wrong != "" {
		return wrong
	}
	more, wrong := h.checkQueue(&w.queue)
	if wrong != "" {
		return wrong
	}
	queued += more
	if w.active == 0 && (queued != 0 || w.markers[0].ringFrom != w.markers[0].ringTo) {
		return "gc: something is left to mark outside of a collection"
	}
	return h.checkGrey(queued)
}

// checkQueue counts the blocks of a queue.
func (h *Heap) checkQueue(q *blockQueue) (uint32, string) {
	count, last := uint32(0), blockRef(0)
	for block := q.head; block != 0 && block != endOfQueue; block = h.header(block).queueNext {
		count++
		last = block
		if count > q.count {
			break
		}
	}
	if count != q.count || last != q.tail || last != 0 && h.header(last).queueNext != endOfQueue {
		return 0, "gc: a queue of blocks is broken"
	}
	return count, ""
}

// checkGrey compares the blocks in queues with those that say they are in one, and with those that should be.
func (h *Heap) checkGrey(queued uint32) string {
	for block := firstBlock; block < h.blockLimit(); block = h.blockAfter(block) {
		hd := h.header(block)
		if hd.state != stateSmall && hd.state != stateLarge {
			continue
		}
		if hd.queueNext != 0 {
			queued--
		} else if hd.grey[0]|hd.grey[1]|hd.grey[2]|hd.grey[3] != 0 {
			return "gc: a block with something grey is in no queue"
		}
	}
	if queued != 0 {
		return "gc: blocks say that they are in a queue and are not, or the other way round"
	}
	return ""
}
