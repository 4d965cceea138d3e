use super::*;

struct Named;

impl Visitor for Named {
    type Output = (String, usize);

    fn visit<P: Shipped>(self, _: &'static Algorithm, cluster: Vec<P>) -> (String, usize) {
        ClusterError::check_places(&cluster).expect("every node stands where it belongs");
        (std::any::type_name::<P>().to_owned(), cluster.len())
    }
}

#[test]
fn every_algorithm_is_built_by_the_type_that_it_names_and_with_as_many_nodes() {
    for algorithm in ALGORITHMS {
        let size = Size::of(algorithm.nodes_to_show);
        let (name, nodes) = algorithm.build(size, Named).expect("it can be shown");
        assert!(name.ends_with(&format!("::{}", algorithm.implemented_by)), "{algorithm}");
        assert_eq!(nodes, algorithm.nodes_to_show);
        assert_eq!(Algorithm::named(algorithm.name), Ok(algorithm), "names are unique");
    }
}

#[test]
fn a_size_that_is_advised_is_not_too_large() {
    let near_the_limit = (ACQUAINTED - 400..).step_by(7);
    for nodes in near_the_limit.take_while(|&nodes| nodes <= PLANAR) {
        if let Err(QuorumError::NotAPlane { nearest, .. }) = Quorums::projective_plane_of(nodes) {
            assert!(nearest.iter().all(|&size| size <= PLANAR), "{nodes}: {nearest:?}");
        }
    }
    let near_the_limit = (ACQUAINTED - 400..).step_by(7);
    for nodes in near_the_limit.take_while(|&nodes| nodes <= TRIANGULAR) {
        if let Err(QuorumError::NotTriangular { nearest, .. }) =
            Quorums::triangle(nodes, Scheme::Column)
        {
            assert!(nearest.iter().all(|&size| size <= TRIANGULAR), "{nodes}: {nearest:?}");
        }
    }
}

#[test]
fn what_cannot_be_built_is_said_with_the_reason() {
    let why = |name: &str, size| {
        let built = Algorithm::named(name).and_then(|algorithm| algorithm.build(size, Named));
        built.unwrap_err().to_string()
    };
    assert!(why("nosuch", Size::of(3)).starts_with("no algorithm is called 'nosuch'; there are"));
    assert!(why("lamport", Size::of(1)).starts_with("lamport: 1 node is no cluster"));
    assert!(why("lamport", Size::of(5000)).contains("take at most 4096"));
    assert!(why("lamport", Size::of(3).with_entries(2)).contains("one at a time"));
    assert!(why("raymond_k", Size::of(3).with_entries(3)).contains("take 1 to 2"));
    assert!(why("maekawa_plane", Size::of(43)).ends_with("take 31 or 57 nodes"));
    assert!(why("maekawa_circle", Size::of(5)).ends_with("take 2 or 3 nodes"));
}
