use super::*;

const PLANES: [usize; 11] = [1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 16];

fn assert_lawful(sets: &Quorums, nodes: usize) {
    assert_eq!(sets.nodes(), nodes);
    assert!(NodeId::all(nodes).all(|node| !sets.of(node).is_empty()));
    assert_eq!(sets.check(), Ok(()));
}

/// The sets of the source, which counts from 1 and gives them by owner.
fn printed<const NODES: usize, const SIZE: usize>(
    mut sets: [(u32, [u32; SIZE]); NODES],
) -> Quorums {
    sets.sort();
    assert!(sets.iter().map(|set| set.0).eq(1..=NODES as u32), "one for each node");
    Quorums::new(sets.map(|(_, set)| set.map(|node| NodeId(node - 1)))).unwrap()
}

#[test]
fn every_pair_of_grid_sets_meets() {
    for nodes in 2..=100 {
        let sets = Quorums::grid(nodes).unwrap();
        assert_lawful(&sets, nodes);
        let largest = (4 * nodes - 1).isqrt();
        assert_eq!(*sets.sizes().end(), largest, "⌈2√n⌉ - 1 of {nodes}");
    }
}

#[test]
fn a_square_grid_has_equal_sizes_and_loads() {
    for width in 2..=10 {
        let sets = Quorums::grid(width * width).unwrap();
        let size = 2 * width - 1;
        assert_eq!(sets.sizes(), size..=size);
        assert_eq!(sets.load(), vec![size; width * width]);
    }
}

#[test]
fn every_pair_of_triangle_sets_meets_in_either_scheme_and_across() {
    for rows in 2..=8 {
        let nodes = rows * (rows + 1) / 2;
        for scheme in [Scheme::Column, Scheme::Row, Scheme::Alternating] {
            let sets = Quorums::triangle(nodes, scheme).unwrap();
            assert_lawful(&sets, nodes);
            assert_eq!(sets.sizes(), rows..=rows);
        }
    }
}

#[test]
fn a_triangle_is_as_its_rows_and_columns_say() {
    for rows in 2..=8 {
        let places: Vec<_> = (0..rows).flat_map(|r| (0..=r).map(move |c| (r, c))).collect();
        let sets = Quorums::triangle(places.len(), Scheme::Alternating).unwrap();
        for (owner, &(row, column)) in NodeId::all(places.len()).zip(&places) {
            for (node, &(r, c)) in NodeId::all(places.len()).zip(&places) {
                let [first, second] = sets.of(owner) else { panic!("two in turn") };
                assert_eq!(first.contains(node), c == column || r + 1 == column);
                assert_eq!(second.contains(node), r == row || c == row + 1);
            }
        }
    }
}

#[test]
fn alternating_balances_a_triangle() {
    for rows in 2..=8 {
        let nodes = rows * (rows + 1) / 2;
        let load = |scheme| Quorums::triangle(nodes, scheme).unwrap().load();
        assert_eq!(load(Scheme::Alternating), vec![2 * rows; nodes]);

        let (column, row) = (load(Scheme::Column), load(Scheme::Row));
        assert_eq!((column[0], column[nodes - 1]), (2 * rows - 1, 1));
        assert_eq!((row[0], row[nodes - 1]), (1, 2 * rows - 1));
    }
    let fifteen = Quorums::triangle(15, Scheme::Column).unwrap().load();
    assert_eq!((fifteen[0], fifteen[14]), (9, 1), "as the source counts");
}

#[test]
fn a_number_that_is_not_triangular_is_refused_with_its_neighbours() {
    let nearest = |nodes| Quorums::triangle(nodes, Scheme::Column).unwrap_err();
    assert_eq!(nearest(2), QuorumError::NotTriangular { nodes: 2, nearest: [3, 6] });
    assert_eq!(nearest(5), QuorumError::NotTriangular { nodes: 5, nearest: [3, 6] });
    assert_eq!(nearest(14), QuorumError::NotTriangular { nodes: 14, nearest: [10, 15] });
    assert_eq!(nearest(16), QuorumError::NotTriangular { nodes: 16, nearest: [15, 21] });
}

#[test]
fn every_pair_of_lines_of_a_plane_meets_in_one_point() {
    for order in PLANES {
        let sets = Quorums::projective_plane(order).unwrap();
        let nodes = order * order + order + 1;
        assert_lawful(&sets, nodes);
        assert_eq!(sets.sizes(), order + 1..=order + 1);
        assert_eq!(sets.load(), vec![order + 1; nodes]);
        for (one, other) in NodeId::all(nodes).flat_map(|i| i.others(nodes).map(move |j| (i, j))) {
            let [line, crossing] = [one, other].map(|node| &sets.of(node)[0]);
            assert_eq!(line.iter().filter(|&node| crossing.contains(node)).count(), 1);
        }
    }
}

#[test]
fn a_plane_of_order_5_has_31_nodes() {
    // The source prints 43, which would be order 6, where there is no plane.
    assert_eq!(Quorums::projective_plane(5).unwrap().nodes(), 31);
}

#[test]
fn a_plane_has_no_member_to_spare() {
    let plane = Quorums::projective_plane(3).unwrap();
    for (owner, set) in plane.owned() {
        for node in set.iter() {
            let mut broken = plane.clone();
            broken.lists[owner.index()][0].remove(node);
            match broken.check() {
                Err(QuorumError::WithoutOwner { .. }) => assert_eq!(node, owner),
                Err(QuorumError::Apart { owners, .. }) => assert!(owners.contains(&owner)),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn the_plane_of_order_1_is_as_printed() {
    let plane = Quorums::projective_plane(1).unwrap();
    assert_eq!(plane, Quorums::circle(3).unwrap());
    // The source gives node 1 the line {1, 2}, node 2 {2, 3} and node 3 {1, 3}.
    assert_eq!(plane, printed([(1, [1, 2]), (2, [2, 3]), (3, [1, 3])]));
}

#[test]
fn a_plane_of_no_prime_power_is_refused() {
    for (order, nearest) in
        [(0, [1, 2]), (6, [5, 7]), (10, [9, 11]), (12, [11, 13]), (15, [13, 16])]
    {
        let refused = QuorumError::NoPlane { order, nearest };
        assert_eq!(Quorums::projective_plane(order), Err(refused));
    }
}

#[test]
fn a_plane_is_found_by_its_nodes() {
    for order in PLANES {
        let sets = Quorums::projective_plane(order).unwrap();
        assert_eq!(Quorums::projective_plane_of(sets.nodes()), Ok(sets));
    }
    let error = |nodes| Quorums::projective_plane_of(nodes).unwrap_err();
    assert_eq!(error(9), QuorumError::NotAPlane { nodes: 9, nearest: [7, 13] });
    assert_eq!(error(1), QuorumError::TooFewNodes(1));
    assert_eq!(error(8).to_string(), "8 nodes do not fill a projective plane: take 7 or 13 nodes");
}

/// The sizes that an error advises.
fn advised(error: QuorumError) -> [usize; 2] {
    match error {
        QuorumError::NotAPlane { nearest, .. } => nearest,
        QuorumError::NotTriangular { nearest, .. } => nearest,
        other => panic!("{other} advises no two sizes"),
    }
}

#[test]
fn every_size_that_is_advised_can_be_built_and_none_is_nearer() {
    let edge = [Quorums::MOST_NODES - 2300, Quorums::MOST_NODES - 1, Quorums::MOST_NODES];
    let arrangements: [fn(usize) -> Result<Quorums, QuorumError>; 2] =
        [Quorums::projective_plane_of, |nodes| Quorums::triangle(nodes, Scheme::Column)];
    for build in arrangements {
        let exists: Vec<_> = (0..300).map(|nodes| build(nodes).is_ok()).collect();
        for nodes in 2..=200 {
            let Err(error) = build(nodes) else { continue };
            let [below, above] = advised(error);
            assert!(exists[below] && exists[above], "{nodes}: {below} or {above}");
            assert!(below < nodes && nodes < above || nodes == 2, "{nodes}");
            assert!(!exists[below + 1..above].contains(&true), "{nodes}: {below} or {above}");
        }
        for nodes in edge {
            let Err(error) = build(nodes) else { continue };
            assert!(advised(error).iter().all(|&size| size <= Quorums::MOST_NODES));
        }
    }
    let plane = |nodes| advised(Quorums::projective_plane_of(nodes).unwrap_err());
    assert_eq!([2, 40, 43, 100].map(plane), [[3, 7], [31, 57], [31, 57], [91, 133]]);
    assert_eq!(plane(Quorums::MOST_NODES), [59293, 63253], "orders 243 and 251");
    let order = |order| Quorums::projective_plane(order).unwrap_err();
    for wanted in (0..200).filter(|order| !is_order(order)) {
        let QuorumError::NoPlane { nearest, .. } = order(wanted) else { panic!("{wanted}") };
        assert!(nearest.iter().all(is_order), "{wanted}: {nearest:?}");
    }
}

#[test]
fn a_circle_has_two_or_three_nodes() {
    assert_lawful(&Quorums::circle(2).unwrap(), 2);
    assert_lawful(&Quorums::circle(3).unwrap(), 3);
    for nodes in 4..20 {
        assert_eq!(Quorums::circle(nodes), Err(QuorumError::NotACircle(nodes)));
        let pair = |node| [node, (node + 1) % nodes].map(NodeId::at);
        Quorums::new((0..nodes).map(pair)).expect_err("two pairs do not meet");
    }
}

#[test]
fn a_majority_is_just_more_than_half() {
    for nodes in 2..=100 {
        let sets = Quorums::majority(nodes).unwrap();
        let size = nodes / 2 + 1;
        assert_lawful(&sets, nodes);
        assert_eq!(sets.sizes(), size..=size);
        assert_eq!(sets.load(), vec![size; nodes]);
    }
    let five = Quorums::majority(5).unwrap();
    assert_eq!(five.of(NodeId(3))[0].to_string(), "{n0, n3, n4}");
}

#[test]
fn a_weighted_majority_has_more_than_half_of_the_weight_and_no_node_too_many() {
    // Every cluster of 2 to 5 nodes with weights 1 to 4.
    for nodes in 2..=5 {
        for number in 0..4_u64.pow(nodes) {
            let weights: Vec<u64> =
                (0..nodes).map(|node| number / 4_u64.pow(node) % 4 + 1).collect();
            let total: u64 = weights.iter().sum();
            let sets = Quorums::weighted_majority(&weights).unwrap();
            assert_lawful(&sets, weights.len());
            for (owner, set) in sets.owned() {
                let weight: u64 = set.iter().map(|node| weights[node.index()]).sum();
                assert!(2 * weight > total);
                let last = (owner.index() + set.len() - 1) % weights.len();
                assert!(2 * (weight - weights[last]) <= total);
            }
        }
    }
}

#[test]
fn weights_may_sum_past_64_bits() {
    let sets = Quorums::weighted_majority(&[u64::MAX; 5]).unwrap();
    assert_eq!(sets, Quorums::majority(5).unwrap());
}

#[test]
fn a_node_without_weight_is_refused() {
    let refused = QuorumError::ZeroWeight(NodeId(1));
    assert_eq!(Quorums::weighted_majority(&[1, 0, 0]), Err(refused));
}

#[test]
fn the_printed_arrangements_are_accepted() {
    assert_eq!(printed([(1, [1, 2]), (3, [1, 3]), (2, [2, 3])]).load(), [2; 3]);
    let seven = printed([
        (1, [1, 2, 3]),
        (4, [1, 4, 5]),
        (6, [1, 6, 7]),
        (2, [2, 4, 6]),
        (5, [2, 5, 7]),
        (7, [3, 4, 7]),
        (3, [3, 5, 6]),
    ]);
    assert_eq!((seven.nodes(), seven.load()), (7, vec![3; 7]));
    let thirteen = printed([
        (1, [1, 2, 3, 4]),
        (5, [1, 5, 6, 7]),
        (8, [1, 8, 9, 10]),
        (11, [1, 11, 12, 13]),
        (2, [2, 5, 8, 11]),
        (6, [2, 6, 9, 12]),
        (7, [2, 7, 10, 13]),
        (10, [3, 5, 10, 12]),
        (3, [3, 6, 8, 13]),
        (9, [3, 7, 9, 11]),
        (13, [4, 5, 9, 13]),
        (4, [4, 6, 10, 11]),
        (12, [4, 7, 8, 12]),
    ]);
    assert_eq!((thirteen.nodes(), thirteen.load()), (13, vec![4; 13]));
}

#[test]
fn two_sets_that_do_not_meet_are_refused_and_named() {
    let sets = [vec![0, 1], vec![1, 2], vec![2, 0, 3], vec![3, 2]];
    let error = Quorums::new(sets.map(|set| set.into_iter().map(NodeId))).unwrap_err();
    let apart = [[0, 1], [3, 2]].map(|set| NodeSet::of(4, set.map(NodeId)));
    assert_eq!(error, QuorumError::Apart { owners: [NodeId(0), NodeId(3)], sets: apart });
}

#[test]
fn the_second_set_in_turn_must_meet_too() {
    let set = |nodes: [u32; 2]| NodeSet::of(4, nodes.map(NodeId));
    let lists = vec![
        vec![set([0, 2])],
        vec![set([1, 2]), set([1, 3])],
        vec![set([2, 3])],
        vec![set([3, 2])],
    ];
    let owners = [0, 1].map(NodeId);
    let apart = [[0, 2], [1, 3]].map(set);
    assert_eq!(Quorums { lists }.check(), Err(QuorumError::Apart { owners, sets: apart }));
}

#[test]
fn a_set_without_its_owner_an_empty_one_and_a_stranger_are_refused() {
    let new = |sets: [&[u32]; 2]| {
        Quorums::new(sets.map(|set| set.iter().map(|&node| NodeId(node)))).unwrap_err()
    };
    let owner = NodeId(1);
    let set = NodeSet::of(2, [NodeId(0)]);
    assert_eq!(new([&[0], &[0]]), QuorumError::WithoutOwner { owner, set });
    assert_eq!(new([&[0], &[]]), QuorumError::Empty(owner));
    let node = NodeId(2);
    assert_eq!(new([&[0], &[1, 2]]), QuorumError::UnknownNode { owner, node, nodes: 2 });
}

#[test]
fn too_few_nodes_and_too_many_are_refused() {
    for nodes in [0, 1] {
        let refused = Err(QuorumError::TooFewNodes(nodes));
        assert_eq!(Quorums::grid(nodes), refused);
        assert_eq!(Quorums::triangle(nodes, Scheme::Alternating), refused);
        assert_eq!(Quorums::majority(nodes), refused);
        assert_eq!(Quorums::weighted_majority(&vec![1; nodes]), refused);
        assert_eq!(Quorums::new(vec![[NodeId(0)]; nodes]), refused);
    }
    for nodes in [Quorums::MOST_NODES + 1, usize::MAX] {
        let refused = Err(QuorumError::TooManyNodes(nodes));
        assert_eq!(Quorums::grid(nodes), refused);
        assert_eq!(Quorums::triangle(nodes, Scheme::Alternating), refused);
        assert_eq!(Quorums::majority(nodes), refused);
    }
    let refused = Err(QuorumError::TooManyNodes(256 * 256 + 256 + 1));
    assert_eq!(Quorums::projective_plane(256), refused);
    let refused = Err(QuorumError::TooManyNodes(usize::MAX));
    assert_eq!(Quorums::projective_plane(usize::MAX), refused);
}

#[test]
fn errors_say_what_to_do() {
    let plane = |order| Quorums::projective_plane(order).unwrap_err().to_string();
    assert_eq!(plane(6), "no plane of order 6 is known, only of 1 and prime powers: take 5 or 7");
    assert_eq!(plane(0), "no plane of order 0 is known, only of 1 and prime powers: take 1 or 2");
    assert_eq!(
        Quorums::circle(4).unwrap_err().to_string(),
        "the pairs of a circle of 4 nodes do not meet: take 2 or 3 nodes"
    );
    assert_eq!(
        Quorums::triangle(7, Scheme::Row).unwrap_err().to_string(),
        "7 nodes do not fill a triangle: take 6 or 10 nodes, or a grid"
    );
    assert_eq!(Quorums::grid(1).unwrap_err().to_string(), "1 node is no cluster: take 2 or more");
}
